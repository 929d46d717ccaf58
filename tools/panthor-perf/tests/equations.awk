# SPDX-License-Identifier: MIT
# equations.awk: makes a C++ program of the equations in data/, for a comparison with the library.
#
#   awk -v layout=LAYOUT -f equations.awk hw_counters.csv derived_counters.csv topdown.csv
#
# The compiler reads each equation as it stands in the table: names are macros that call a function
# each, / is an operator of a class in which 0 / 0 is 0. The program reads lines of "PLACE VALUE" or
# "NAME VALUE" and, at a line "=", prints the value of each equation, "-" if it is none.

# Splits a row into f[1] and so on.
function split_row(row,    n, c, i, quoted)
{
	delete f
	n = 1
	f[1] = ""
	for (i = 1; i <= length(row); i++) {
		c = substr(row, i, 1)
		if (c == "\"" && quoted && substr(row, i + 1, 1) == "\"") {
			f[n] = f[n] "\""
			i++
		} else if (c == "\"") {
			quoted = !quoted
		} else if (c == "," && !quoted) {
			f[++n] = ""
		} else {
			f[n] = f[n] c
		}
	}
	return n
}

function applies(list,    parts, n, i)
{
	n = split(list, parts, "|")
	for (i = 1; i <= n; i++)
		if (parts[i] == layout || parts[i] == "all")
			return 1
	return 0
}

# Rows of hardware whose name is in equations alone: the tables leave it out.
BEGIN {
	alias["GPU_IRQ_ACTIVE"] = "MaliGPUIRQActiveCy"
	alias["PRIM_SAMPLE_CULLED"] = "MaliGeomSampleCullPrim"
	alias["POS_SHADER_WARPS"] = "MaliGeomPosShadTask"
	alias["VAR_SHADER_WARPS"] = "MaliGeomVarShadTask"
	alias["FULL_WARPS"] = "MaliCoreFullWarp"
	alias["TEX_RSPS_NUM_OPERATIONS"] = "MaliTexOutBt"
	alias["RT_BOX_ISSUE_CYCLES"] = "MaliRTUBoxIssueCy"
	alias["RT_TRI_ISSUE_CYCLES"] = "MaliRTUTriIssueCy"
	alias["BLEND_ISSUE"] = "MaliBlendIssueCy"
	alias["ATTR_ISSUE"] = "MaliAttrIssueCy"
	print "#include <algorithm>\n#include <cmath>\n#include <cstdio>\n#include <map>\n#include <string>"
	print "struct N { double v; N(double x) : v(x) {} };"
	print "static N operator+(N a, N b) { return a.v + b.v; }"
	print "static N operator-(N a, N b) { return a.v - b.v; }"
	print "static N operator*(N a, N b) { return a.v * b.v; }"
	print "static N operator/(N a, N b) { return a.v == 0 && b.v == 0 ? 0 : a.v / b.v; }"
	print "template<class... M> static N min(N a, M... m) { for (N x : { N(m)... }) if (x.v < a.v) a = x; return a; }"
	print "template<class... M> static N max(N a, M... m) { for (N x : { N(m)... }) if (x.v > a.v) a = x; return a; }"
	print "static std::map<std::string, double> in;\nstatic unsigned now = 1;"
	split("SHADER_CORE_COUNT L2_CACHE_COUNT EXT_BUS_BYTE_SIZE TIME_SPAN ELAPSED_CYCLES SHADER_CLOCK_RATIO", config, " ")
	for (i in config)
		printf "#define MALI_CONFIG_%s N(in[\"MALI_CONFIG_%s\"])\n", config[i], config[i]
}

/^#/ || FNR == 1 { next }
{ split_row($0) }
f[1] == "layout" { next }

FILENAME ~ /hw_counters/ && f[1] == layout {
	name = f[6] != "" ? f[6] : alias[f[5]]
	if (name != "")
		printf "#define %s N(in[\"%s.%s\"])\n", name, f[2], f[4]
}
FILENAME ~ /derived_counters/ && f[1] == layout {
	name_of[++count] = f[2]
	equation[count] = f[7]
}
FILENAME ~ /topdown/ && applies(f[1]) {
	name_of[++count] = f[3]
	equation[count] = f[6]
	helper[count] = f[2] == ""
}

END {
	for (i = 1; i <= count; i++)
		printf "static N f_%s();\n#define %s f_%s()\n", name_of[i], name_of[i], name_of[i]
	for (i = 1; i <= count; i++)
		printf "static N f_%s() { static double v; static unsigned at; if (at != now) { at = now; v = N(%s).v; } return v; }\n", name_of[i], equation[i]
	print "static void out(const char *name, N n) { if (std::isfinite(n.v)) std::printf(\"%s %.17g\\n\", name, n.v); else std::printf(\"%s -\\n\", name); }"
	print "int main() { char name[64]; double value;"
	print "while (std::scanf(\"%63s\", name) == 1) {"
	print "if (std::string(name) != \"=\") { if (std::scanf(\"%lf\", &value) != 1) return 1; in[name] = value; continue; }"
	for (i = 1; i <= count; i++)
		if (!helper[i])
			printf "out(\"%s\", f_%s());\n", name_of[i], name_of[i]
	print "std::puts(\"=\"); in.clear(); now++; } }"
}
