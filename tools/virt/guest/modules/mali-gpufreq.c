// SPDX-License-Identifier: GPL-2.0 or MIT
/*
 * A power domain that sets the rates of the GPU's clocks by its performance state, as firmware does on the MT8196. A
 * state that is set while the domain is off is applied when it is switched on, of which nobody is told.
 * Rates can be read, as they really are. The clock framework asks for that of core when the OPP core sets it: after a
 * rise of the state, which is announced, but before a fall, which is not. It announces nothing of stacks.
 */
#include <linux/clk-provider.h>
#include <linux/io.h>
#include <linux/module.h>
#include <linux/of.h>
#include <linux/of_address.h>
#include <linux/platform_device.h>
#include <linux/pm_domain.h>
#include <linux/pm_opp.h>

#define MAX_OPPS	16

/* core, coregroup, stacks */
#define CLKS		3
#define STACKS		2

/* Registers of the virtual board, and of the bench page: the rate of core, and behind it those of the others. */
#define SYS_LED		0x08
#define SYS_CFGDATA	0xa0
#define SYS_CFGCTRL	0xa4
#define   SET_OSC(n)	(BIT(31) | BIT(30) | 1 << 20 | (n))
#define GATES		7
#define CORE_REAL_HZ	0x248
#define REAL_HZ_STRIDE	8

struct gpufreq_clk {
	struct clk_hw hw;
	void __iomem *hz;
};

struct gpufreq {
	struct generic_pm_domain pd;
	struct gpufreq_clk clks[CLKS];
	void __iomem *board;
	/* Rates of core and of stacks. */
	u32 opps[2 * MAX_OPPS];
	int num_opps;
};

static unsigned long gpufreq_recalc_rate(struct clk_hw *hw, unsigned long parent_rate)
{
	/* The upper half is 0. */
	return readl(container_of(hw, struct gpufreq_clk, hw)->hz);
}

static int gpufreq_determine_rate(struct clk_hw *hw, struct clk_rate_request *req)
{
	return 0;
}

static const struct clk_ops gpufreq_clk_ops = {
	.recalc_rate = gpufreq_recalc_rate,
	.determine_rate = gpufreq_determine_rate,
};

static void gpufreq_apply(struct gpufreq *g, unsigned int state)
{
	int i;

	for (i = 0; i < CLKS; i++) {
		writel(g->opps[2 * state + (i == STACKS)], g->board + SYS_CFGDATA);
		writel(SET_OSC(i), g->board + SYS_CFGCTRL);
	}
}

/*
 * As mtk_mfg_set_performance(): firmware loses power with the domain, and until it has some, rates read as they last
 * were. The core of power domains remembers the state, and gpufreq_on() applies it.
 */
static int gpufreq_set_state(struct generic_pm_domain *pd, unsigned int state)
{
	struct gpufreq *g = container_of(pd, struct gpufreq, pd);

	if (state >= g->num_opps)
		return -EINVAL;
	if (pd->status == GENPD_STATE_ON)
		gpufreq_apply(g, state);
	return 0;
}

static int gpufreq_on(struct generic_pm_domain *pd)
{
	struct gpufreq *g = container_of(pd, struct gpufreq, pd);

	writel(GATES, g->board + SYS_LED);
	gpufreq_apply(g, pd->performance_state);
	return 0;
}

static int gpufreq_off(struct generic_pm_domain *pd)
{
	writel(0, container_of(pd, struct gpufreq, pd)->board + SYS_LED);
	return 0;
}

static int gpufreq_attach(struct generic_pm_domain *pd, struct device *dev)
{
	struct gpufreq *g = container_of(pd, struct gpufreq, pd);
	int i, ret = 0;

	for (i = 0; !ret && i < g->num_opps; i++) {
		struct dev_pm_opp_data data = { .level = i, .freq = g->opps[2 * i], .u_volt = 750000 };

		ret = dev_pm_opp_add_dynamic(dev, &data);
	}
	if (ret)
		dev_pm_opp_remove_all_dynamic(dev);
	return ret;
}

static void gpufreq_detach(struct generic_pm_domain *pd, struct device *dev)
{
	dev_pm_opp_remove_all_dynamic(dev);
}

static int gpufreq_probe(struct platform_device *pdev)
{
	static const char * const names[CLKS] = { "firmware-core", "firmware-coregroup", "firmware-stacks" };
	struct clk_hw_onecell_data *data;
	struct device *dev = &pdev->dev;
	void __iomem *bench;
	struct gpufreq *g;
	int i, ret;

	g = devm_kzalloc(dev, sizeof(*g), GFP_KERNEL);
	data = devm_kzalloc(dev, struct_size(data, hws, CLKS), GFP_KERNEL);
	if (!g || !data)
		return -ENOMEM;
	/* mali-bench maps the bench page as well. */
	g->board = devm_of_iomap(dev, dev->of_node, 0, NULL);
	bench = of_iomap(dev->of_node, 1);
	if (IS_ERR(g->board) || !bench)
		return -ENOMEM;
	ret = of_property_read_variable_u32_array(dev->of_node, "opps", g->opps, 2, 2 * MAX_OPPS);
	if (ret < 0)
		return ret;
	g->num_opps = ret / 2;

	data->num = CLKS;
	for (i = 0; i < CLKS; i++) {
		const struct clk_init_data init = {
			.name = names[i], .ops = &gpufreq_clk_ops, .flags = CLK_GET_RATE_NOCACHE,
		};

		g->clks[i].hz = bench + CORE_REAL_HZ + i * REAL_HZ_STRIDE;
		g->clks[i].hw.init = &init;
		ret = devm_clk_hw_register(dev, &g->clks[i].hw);
		if (ret)
			return ret;
		data->hws[i] = &g->clks[i].hw;
	}
	ret = devm_of_clk_add_hw_provider(dev, of_clk_hw_onecell_get, data);
	if (ret)
		return ret;

	g->pd.name = "mali-gpufreq";
	g->pd.attach_dev = gpufreq_attach;
	g->pd.detach_dev = gpufreq_detach;
	g->pd.power_on = gpufreq_on;
	g->pd.power_off = gpufreq_off;
	g->pd.set_performance_state = gpufreq_set_state;
	g->pd.flags = GENPD_FLAG_OPP_TABLE_FW;
	ret = pm_genpd_init(&g->pd, NULL, true);
	if (ret)
		return ret;
	return of_genpd_add_provider_simple(dev->of_node, &g->pd);
}

static const struct of_device_id gpufreq_match[] = {
	{ .compatible = "panthor-perf,mali-gpufreq" },
	{}
};
MODULE_DEVICE_TABLE(of, gpufreq_match);

static struct platform_driver gpufreq_driver = {
	.driver = {
		.name = "mali-gpufreq",
		.of_match_table = gpufreq_match,
		.suppress_bind_attrs = true,
	},
	.probe = gpufreq_probe,
};

/* It stays: the domain of a device that is bound cannot go. */
static int __init gpufreq_init(void)
{
	return platform_driver_register(&gpufreq_driver);
}
module_init(gpufreq_init);

MODULE_DESCRIPTION("Power domain and clocks of a virtual Mali, whose rates change without notice");
MODULE_LICENSE("Dual MIT/GPL");
