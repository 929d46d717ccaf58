# SPDX-License-Identifier: MIT
# The models, a product each (source it): products, products_of KERNEL, not_probed_by KERNEL.

# model, architecture, cores, interface of firmware, first kernel that probes it, product's name and the layout
# of its counters, as data/products.csv has them
PRODUCTS="
g310 10.12.7 0x1       1.5.0 6.12 Mali-G310     Mali-G710
g510 10.10.0 0x115     1.5.0 6.12 Mali-G510     Mali-G710
g610 10.8.6  0x50005   1.5.0 6.12 Mali-G610     Mali-G710
g710 10.8.6  0x1110055 1.0.0 6.12 Mali-G710     Mali-G710
g615 11.8.0  0x10115   2.2.0 6.12 Mali-G615     Mali-G715
g715 11.8.0  0x550055  2.2.0 6.12 Mali-G715     Mali-G715
g620 12.8.7  0x10151   3.0.0 6.12 Mali-G620     Mali-G720
g720 12.8.7  0x10555   3.0.0 6.12 Mali-G720     Mali-G720
g625 13.8.3  0x1111    3.3.0 6.12 Mali-G625     Mali-G725
g725 13.8.3  0x111111  3.3.0 6.12 Mali-G725     Mali-G725
g1   14.8.0  0x5550055 4.1.0 7.3  Mali_G1-Ultra Mali_G1
"

# products [MODEL...]: lines of PRODUCTS, of those models or of all
products()
{
	awk -v models=" $* " 'NF && (models == "  " || index(models, " " $1 " "))' <<<"$PRODUCTS"
}

# The models that panthor of KERNEL probes, and those that it does not.
products_of()
{
	awk -v kernel="$1" 'NF && !($5 == "7.3" && kernel == "6.12") { print $1 }' <<<"$PRODUCTS"
}

not_probed_by()
{
	awk -v kernel="$1" 'NF && $5 == "7.3" && kernel == "6.12" { print $1 }' <<<"$PRODUCTS"
}
