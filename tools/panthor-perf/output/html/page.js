// SPDX-License-Identifier: MIT
// The plots of a page of panthor-perf report --html, which html.c writes. What is seen can be told by the
// address, behind a #: theme=dark, zoom=FROM,TO and at=TIME in seconds, level=N of top-down, add=NAME,NAME.
"use strict";

(() => {
const find = selector => document.querySelector(selector);

function fail(message) {
	find("#failed").hidden = false;
	find("#failed").textContent = "Cannot draw the plots: " + message;
}
addEventListener("error", event => fail(event.message));

const data = JSON.parse(find("#data").textContent);
const time = data.time;
const bins = time.start.length;
const end = time.end[bins - 1];
const state = new URLSearchParams(location.hash.slice(1));
const plots = [];

function make(name, attributes, ...children) {
	const element = document.createElement(name);

	Object.assign(element, attributes);
	element.append(...children);
	return element;
}

function keep(key, value) {
	if (value)
		state.set(key, value);
	else
		state.delete(key);
	try {
		history.replaceState(null, "", "#" + state.toString().replaceAll("%2C", ","));
	} catch {
		// Some browsers let pages of files have no address of their own, which nothing depends on.
	}
}

// ---- Numbers ----

function number(value, unit) {
	const prefixes = ["", "k", "M", "G", "T", "P", "E"];
	let p = 0;

	if (value === null || value === undefined)
		return "-";
	if (unit === "%")
		return (value * 100).toFixed(1) + " %";
	if (unit === "percent")
		return value.toFixed(1) + " %";
	for (; Math.abs(value) >= 999.5 && p + 1 < prefixes.length; p++)
		value /= 1000;
	return Number(value.toPrecision(4)) + " " + prefixes[p] + unit;
}

function seconds(value, digits = 6) {
	return value === null || value === undefined ? "-" : Number(value.toFixed(digits)) + " s";
}

const ms = time => time === null || time === undefined ? "-" : Number((time * 1e3).toFixed(3)) + " ms";

// ---- Lines ----

const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const worth = new Map([...digits].map((digit, i) => [digit, i]));

function decode(text, line) {
	const values = new Array(bins);

	for (let i = 0; i < bins; i++) {
		const step = worth.get(text[2 * i]) * 64 + worth.get(text[2 * i + 1]);

		values[i] = step > 4094 ? null : line.low + step / 4094 * (line.high - line.low);
	}
	return values;
}

// A point for the begin of each bin, and for the end where no other begins there. Places: the bin of each, or -1.
const xs = [], places = [];
for (let i = 0; i < bins; i++) {
	if (i && time.start[i] > time.end[i - 1]) {
		xs.push(time.end[i - 1]);
		places.push(-1);
	}
	xs.push(time.start[i]);
	places.push(i);
}
xs.push(end);
places.push(bins - 1);

const points = values => places.map(bin => bin < 0 ? null : values[bin]);

function lineOf(line) {
	const mean = decode(line.mean, line);

	return {
		name: line.name, line, mean: points(mean),
		least: line.least && points(decode(line.least, line)),
		most: line.most && points(decode(line.most, line)),
	};
}

// ---- Looks ----

const look = name => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
const alpha = (color, part) => color + Math.round(part * 255).toString(16).padStart(2, "0");

function setTheme(theme) {
	document.documentElement.dataset.theme = theme;
	find("#theme select").value = theme;
	keep("theme", theme);
	repaint();
}

function tellBack() {
	document.documentElement.dataset.back = getComputedStyle(document.body).backgroundColor;
}

// For plots that have been drawn: others have no scales yet.
function repaint() {
	tellBack();
	for (const plot of plots) {
		plot.root.querySelectorAll(".u-series").forEach((row, i) => {
			if (plot.series[i].color)
				row.querySelector(".u-marker").style.background = plot.series[i].color();
		});
		plot.redraw();
	}
}

// ---- Marks: samples of which something is to be told ----

const marks = [
	{ bits: 3, color: "missing", name: "counts may be missing" },
	{ bits: 4, color: "stretched", name: "more than one period" },
	{ bits: 8, color: "protected", name: "in protected mode" },
];

function drawMarks(plot) {
	const { ctx, bbox } = plot;
	const strip = 4 * devicePixelRatio;

	ctx.save();
	ctx.beginPath();
	ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
	ctx.clip();
	for (const [n, mark] of marks.entries()) {
		const color = look(mark.color);

		for (let i = 0; i < bins; i++) {
			if (!(time.marks[i] & mark.bits))
				continue;
			const first = i;
			while (i + 1 < bins && time.marks[i + 1] & mark.bits)
				i++;
			const from = plot.valToPos(time.start[first], "x", true);
			const width = Math.max(plot.valToPos(time.end[i], "x", true) - from, devicePixelRatio);

			ctx.fillStyle = alpha(color, 0.1);
			ctx.fillRect(from, bbox.top, width, bbox.height);
			ctx.fillStyle = color;
			ctx.fillRect(from, bbox.top + n * strip, width, strip);
		}
	}
	ctx.restore();
}

// ---- Regions: parts of the time that marks have named ----

const regions = data.regions || { names: [], bands: [] };
const bandColor = name => look("c" + ((name - 1) % 5 + 1));

function regionAt(at) {
	const band = regions.bands.find(one => one[0] <= at && at < one[1]);

	return band ? regions.names[band[2]] : "";
}

// What: called with the edges of each that is seen.
function eachBand(plot, what) {
	const { ctx, bbox } = plot;
	const { min, max } = plot.scales.x;

	ctx.save();
	ctx.beginPath();
	ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
	ctx.clip();
	for (const [from, to, name] of regions.bands)
		if (to > min && from < max)
			what(plot.valToPos(from, "x", true), plot.valToPos(to, "x", true), name);
	ctx.restore();
}

function tintRegions(plot) {
	eachBand(plot, (from, to, name) => {
		plot.ctx.fillStyle = alpha(bandColor(name), 0.09);
		plot.ctx.fillRect(from, plot.bbox.top, to - from, plot.bbox.height);
	});
}

// Edges, and names where there is room.
function nameRegions(plot) {
	const { ctx, bbox } = plot;
	const dot = devicePixelRatio;

	eachBand(plot, (from, to, name) => {
		const left = Math.max(from, bbox.left);
		const text = regions.names[name];

		ctx.fillStyle = alpha(bandColor(name), 0.6);
		ctx.fillRect(from, bbox.top, dot, bbox.height);
		ctx.fillRect(to - dot, bbox.top, dot, bbox.height);
		ctx.font = `${11 * dot}px system-ui, sans-serif`;
		ctx.textAlign = "left";
		ctx.textBaseline = "bottom";
		const width = ctx.measureText(text).width + 8 * dot;

		if (width > Math.min(to, bbox.left + bbox.width) - left)
			return;
		ctx.fillStyle = alpha(look("back"), 0.75);
		ctx.fillRect(left, bbox.top + bbox.height - 16 * dot, width, 16 * dot);
		ctx.fillStyle = look("text");
		ctx.fillText(text, left + 4 * dot, bbox.top + bbox.height - 2 * dot);
	});
}

// ---- Plots ----

const stepped = uPlot.paths.stepped({ align: 1, alignGaps: 1 });
let zoomed = null;

// All plots show the same time.
function zoom(from, to) {
	const whole = from <= 0 && to >= end;

	if (to <= 0 || from >= end)
		return;
	zoomed = { min: Math.max(from, 0), max: Math.min(to, end) };
	for (const plot of plots)
		if (plot.scales.x.min !== zoomed.min || plot.scales.x.max !== zoomed.max)
			plot.setScale("x", zoomed);
	find("#range").textContent = seconds(zoomed.min) + " to " + seconds(zoomed.max) + " of " + seconds(end);
	find("#whole").disabled = whole;
	keep("zoom", whole ? "" : zoomed.min.toFixed(6) + "," + zoomed.max.toFixed(6));
}

function scaled(plot, key) {
	const { min, max } = plot.scales.x;

	plot.root.dataset.range = min + " " + max;
	if (key === "x" && min !== null && plots.includes(plot) && (!zoomed || min !== zoomed.min || max !== zoomed.max))
		zoom(min, max);
}

function widthOf() {
	return Math.max(find("#plots").clientWidth, 300);
}

// Part: the element that a plot is in. Series are uPlot's, behind time; y makes its axis.
function draw(part, series, values, y, more = {}) {
	const box = part.querySelector(".box");
	const axis = { stroke: () => look("dim"), grid: { stroke: () => look("grid"), width: 1 },
		ticks: { stroke: () => look("line"), width: 1 }, font: "12px system-ui, sans-serif" };
	const plot = new uPlot({
		width: widthOf(), height: more.height || 190,
		legend: { markers: { width: 0, fill: (u, i) => u.series[i].color ? u.series[i].color() : "" } },
		cursor: { sync: { key: "time" }, drag: { x: true, y: false, dist: 5 }, ...more.cursor },
		scales: { x: { time: false, range: (u, min, max) => [min, max > min ? max : min + 1e-6] }, y: { range: y.range } },
		axes: [
			{ ...axis, size: 30, values: (u, ticks) => ticks.map(tick => seconds(tick)) },
			{ ...axis, size: 76, values: (u, ticks) => ticks.map(y.text), ...y.axis },
		],
		series: [{ label: "Time", value: (u, value) => seconds(value) + (regionAt(value) && ", " + regionAt(value)) }, ...series],
		bands: more.bands,
		hooks: { setScale: [scaled], drawClear: more.over ? [tintRegions] : [tintRegions, drawMarks],
			draw: more.over ? [more.over, drawMarks, nameRegions] : [nameRegions],
			setCursor: more.moved ? [more.moved] : [] },
	}, [more.xs || xs, ...values], box);

	// What is only the edge of an area has no name.
	const rows = box.querySelectorAll(".u-series");
	series.forEach((one, i) => {
		if (!one.label)
			rows[i + 1].hidden = true;
	});
	plots.push(plot);
	if (zoomed)
		plot.setScale("x", zoomed);
	return plot;
}

// What: called with the time of a click, and the part of the height, from the top.
function onClick(plot, what) {
	let pressed;

	plot.over.addEventListener("mousedown", event => pressed = event.clientX);
	plot.over.addEventListener("click", event => {
		const at = plot.over.getBoundingClientRect();

		if (Math.abs(event.clientX - pressed) < 5)
			what(plot.posToVal(event.clientX - at.left, "x"), (event.clientY - at.top) / at.height);
	});
}

function partOf(title, note, ...controls) {
	const part = make("section", { className: "plot" },
		make("h2", {}, title, make("small", { textContent: note }), ...controls), make("div", { className: "box" }));

	part.dataset.plot = title;
	find("#plots").append(part);
	return part;
}

function remove(part) {
	for (const plot of plots.filter(one => part.contains(one.root))) {
		plots.splice(plots.indexOf(plot), 1);
		plot.destroy();
	}
}

// Lines, each with what is between its least and its largest value.
function drawLines(part, lines, unit, colors, range) {
	const series = [], values = [], bands = [];

	lines.forEach((line, n) => {
		const color = colors[n % colors.length];
		const at = series.length + 1;

		series.push({
			label: line.name, width: 1.25, paths: stepped, points: { show: false },
			color: () => look(color), stroke: () => look(color),
			value: (u, value, s, i) => i === null || !line.least ? number(value, unit) :
				`${number(value, unit)} (${number(line.least[i], unit)} to ${number(line.most[i], unit)})`,
		});
		values.push(line.mean);
		if (!line.least)
			return;
		for (const edge of [line.most, line.least]) {
			series.push({ paths: stepped, points: { show: false }, width: 0 });
			values.push(edge);
		}
		bands.push({ series: [at + 1, at + 2], fill: () => alpha(look(color), Math.max(0.24 / lines.length, 0.06)) });
	});
	draw(part, series, values, {
		range: range || ((u, min, max) => min === null ? [0, 1] : uPlot.rangeNum(Math.min(min, 0), Math.max(max, 0), 0.1, true)),
		text: value => number(value, unit.length > 4 && unit !== "percent" ? "" : unit),
	}, { bands });
}

const partRange = () => [0, 1];
const curves = plot => data.curves.filter(line => line.plot === plot).map(lineOf);

function drawCurves(name, title, note, unit, colors, range) {
	const lines = curves(name);

	if (lines.length)
		drawLines(partOf(title, note), lines, unit, colors, range);
}

// ---- Top-down: areas, one on the other ----

// A part's color is one of its ancestor's at level 1, which has the hue.
const hues = [null, 265, 150, 210, 22, 330, 60];

function colorsOf(nodes, all) {
	const roots = all.filter(node => node.line.level === 1);
	const byName = new Map(all.map(node => [node.line.node, node]));
	const rootOf = node => {
		while (byName.has(node.line.parent))
			node = byName.get(node.line.parent);
		return node;
	};

	return nodes.map(node => {
		const root = rootOf(node);
		const family = nodes.filter(other => rootOf(other) === root);
		const hue = hues[roots.indexOf(root) % hues.length];
		const step = family.length > 1 ? family.indexOf(node) / (family.length - 1) - 0.5 : 0;

		return () => `hsl(${hue === null ? 215 : hue + 26 * step} ${hue === null ? 8 : 62}% ${Number(look("lightness")) + 34 * step}%)`;
	});
}

function drawTopdown() {
	const all = curves("topdown");

	if (!all.length)
		return;
	const levels = Math.max(...all.map(node => node.line.level));
	const choice = make("select", {}, ...Array.from({ length: levels }, (none, i) =>
		make("option", { value: i + 1, textContent: "Level " + (i + 1) })));
	const part = partOf("Top-down", "percent of all cycles (estimate)", choice);

	function show() {
		const level = Number(choice.value);
		const nodes = all.filter(node => node.line.level === level || node.line.level < level && !node.line.children);
		const colors = colorsOf(nodes, all);
		let sum = xs.map(() => 0);
		const values = nodes.map(node => sum = sum.map((value, i) => node.mean[i] === null ? null : value + node.mean[i]));

		remove(part);
		// The highest edge first: what is below is drawn over it.
		const order = [...nodes.keys()].reverse();
		draw(part, order.map(i => ({
			label: nodes[i].name, width: 0, paths: stepped, points: { show: false }, color: colors[i], fill: colors[i],
			value: (u, value, s, at) => number(at === null ? null : nodes[i].mean[at], "%"),
		})), order.map(i => values[i]), { range: partRange, text: value => number(value, "%") },
			{ height: 240, cursor: { points: { show: false } } });
		keep("level", level > 1 ? String(level) : "");
	}
	choice.value = String(Math.min(Math.max(Number(state.get("level")) || 1, 1), levels));
	choice.onchange = show;
	show();
}

// ---- Cores: a row each ----

function drawCores() {
	const cores = curves("cores");

	if (!cores.length)
		return;
	const part = partOf("Shader cores", "share of time in which each had work");
	const series = cores.map(core => ({
		label: core.name, color: () => look("c1"), paths: () => null, points: { show: false },
		value: (u, value) => number(value, "%"),
	}));

	function over(plot) {
		const { ctx, bbox } = plot;
		const color = look("heat");
		const height = bbox.height / cores.length;

		ctx.save();
		ctx.beginPath();
		ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
		ctx.clip();
		cores.forEach((core, n) => {
			for (let i = 0; i + 1 < xs.length; i++) {
				if (xs[i + 1] < plot.scales.x.min || xs[i] > plot.scales.x.max || !core.mean[i])
					continue;
				const from = plot.valToPos(xs[i], "x", true);

				ctx.fillStyle = `rgb(${color} / ${core.mean[i].toFixed(3)})`;
				ctx.fillRect(from, bbox.top + n * height, Math.max(plot.valToPos(xs[i + 1], "x", true) - from, 1),
					height - Math.min(devicePixelRatio, height / 4));
			}
		});
		ctx.restore();
	}
	draw(part, series, cores.map(core => core.mean), {
		range: () => [-cores.length, 0], text: value => "Core " + Math.round(-value - 0.5),
		axis: { splits: () => cores.map((core, n) => -n - 0.5).filter((place, n) => cores.length <= 12 || n % 2 === 0),
			grid: { show: false } },
	}, { height: Math.min(60 + 18 * cores.length, 330), over, cursor: { points: { show: false }, y: false } });
}

// ---- Frames: a bar each, or for several the time of the slowest and, darker, the mean ----

function drawFrames(frames) {
	const several = frames.frame.length < frames.frames;
	const part = partOf("Frames of " + frames.name, several ?
		`slowest and mean of ${Math.round(frames.frames / frames.frame.length)} frames each` : "time of each");
	const starts = [], bars = [];

	frames.start.forEach((start, i) => {
		if (i && start > frames.end[i - 1]) {
			starts.push(frames.end[i - 1]);
			bars.push(-1);
		}
		starts.push(start);
		bars.push(i);
	});
	starts.push(frames.end[frames.end.length - 1]);
	bars.push(-1);

	const barAt = x => {
		const after = starts.findIndex(start => start > x);

		return after > 0 ? bars[after - 1] : -1;
	};
	const pick = list => bars.map(bar => bar < 0 ? null : list[bar]);

	function over(plot) {
		const { ctx, bbox } = plot;
		const { min, max } = plot.scales.x;
		const y = time => plot.valToPos(time, "y", true);
		const bar = (from, width, time, color) => {
			ctx.fillStyle = color;
			ctx.fillRect(from, y(time), width, y(0) - y(time));
		};

		ctx.save();
		ctx.beginPath();
		ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
		ctx.clip();
		frames.time.forEach((time, i) => {
			if (time === null || frames.end[i] < min || frames.start[i] > max)
				return;
			const color = look(time > frames.budget ? "bad" : "c1");
			const from = plot.valToPos(frames.start[i], "x", true);
			const width = plot.valToPos(frames.end[i], "x", true) - from;
			const gap = width > 4 * devicePixelRatio ? devicePixelRatio : 0;

			bar(from, Math.max(width - gap, devicePixelRatio), time, several ? alpha(color, 0.45) : color);
			if (several)
				bar(from, Math.max(width - gap, devicePixelRatio), frames.mean[i], color);
		});
		if (frames.budget) {
			ctx.fillStyle = look("bad");
			ctx.fillRect(bbox.left, y(frames.budget), bbox.width, devicePixelRatio);
		}
		ctx.restore();
	}

	const series = [
		{ label: several ? "Slowest" : "Time", color: () => look("c1"), paths: () => null, points: { show: false },
			value: (u, time, s, i) => i === null || bars[i] < 0 ? "-" : `${ms(time)} (frame ${frames.frame[bars[i]]})` },
		{ label: "Mean", color: () => look("c1"), paths: () => null, points: { show: false }, value: (u, time) => ms(time) },
	];
	const plot = draw(part, several ? series : series.slice(0, 1), [pick(frames.time), pick(frames.mean)].slice(0, several ? 2 : 1), {
		range: (u, min, max) => uPlot.rangeNum(0, Math.max(max || 1e-3, frames.budget || 0), 0.1, true), text: ms,
	}, { xs: starts, over, cursor: { points: { show: false }, y: false } });

	onClick(plot, x => {
		const bar = barAt(x);

		if (bar >= 0 && frames.time[bar] !== null)
			zoom(frames.at[bar], frames.at[bar] + frames.time[bar]);
	});
}

function clickFrames() {
	const section = find("#frames");

	section.classList.add("live");
	for (const row of section.querySelectorAll("tr[data-from]"))
		row.onclick = () => {
			zoom(Number(row.dataset.from), Number(row.dataset.to));
			find("#plots").scrollIntoView();
		};
}

// ---- Jobs: a row of each queue, and why the GPU was idle ----

const reasonColors = { none: "dim", waiting: "stretched", ready: "protected", unknown: "line" };

// Parts of the time, each with a share of it, as columns of so many pixels that are filled by so much.
function columnsOf(plot, parts) {
	const { min, max } = plot.scales.x;
	const width = Math.round(plot.bbox.width);
	const filled = new Float32Array(width);

	for (const { from, to, share } of parts) {
		const first = (from - min) / (max - min) * width, last = (to - min) / (max - min) * width;

		if (last < 0 || first >= width)
			continue;
		for (let i = Math.max(Math.floor(first), 0); i < Math.min(Math.max(last, first + 1e-3), width); i++)
			filled[i] = Math.min(filled[i] + Math.max(share * (Math.min(last, i + 1) - Math.max(first, i)), 1e-3), 1);
	}
	return filled;
}

// Columns, each from a height on, which are returned with what is drawn added.
function drawColumns(plot, filled, top, height, color, floor) {
	const { ctx, bbox } = plot;

	ctx.fillStyle = color;
	filled.forEach((part, i) => {
		if (!part)
			return;
		const size = Math.min(Math.max(part * height, devicePixelRatio), height - floor[i]);

		ctx.fillRect(bbox.left + i, top + height - floor[i] - size, 1, size);
		floor[i] += size;
	});
	return floor;
}

// A queue's jobs, by where they ran: what was at a time, as a number of the lists, or -1.
function jobAt(lane, at) {
	if (lane.width)
		return at < 0 ? -1 : Math.min(Math.floor(at / lane.width), lane.run.length - 1);
	// Several can run: the latest of them.
	for (let i = lane.run.findLastIndex(run => run <= at); i >= 0; i--)
		if (lane.run[i] + lane.took[i] > at || lane.run[i] === at)
			return i;
	return -1;
}

function partsOf(lane) {
	const parts = [];
	let until = -Infinity;

	lane.run.forEach((run, i) => {
		if (lane.width) {
			parts.push({ from: i * lane.width / 1e9, to: (i + 1) * lane.width / 1e9, share: lane.share[i] / 1000 });
			return;
		}
		// Where it runs beside another one, it is drawn once.
		const from = Math.max(run, until);

		until = Math.max(until, run + lane.took[i]);
		parts.push({ from: from / 1e9, to: Math.max(run + lane.took[i], from) / 1e9, share: 1 });
	});
	return lane.width ? parts.filter(part => part.share) : parts;
}

function drawJobs(jobs) {
	const { names, idle, lanes } = jobs;
	const outcomes = { 0: "", 1: "dropped", 2: "unfinished", "-1": "begin not known" };
	const rowCount = lanes.length + 1;
	const key = jobs.reasons.map(([reason, text]) => {
		const color = make("i");

		color.style.background = `var(--${reasonColors[reason]})`;
		return make("span", {}, color, text);
	});
	const part = partOf("Jobs", "what firmware had of each queue; above, why the GPU was idle" +
		(lanes.length < jobs.all ? ` (the ${lanes.length} busiest of ${jobs.all} queues)` : ""), ...key);
	const laneParts = lanes.map(partsOf);
	const colors = lanes.map(lane => "c" + (lane.process % 5 + 1));
	const idleParts = jobs.reasons.map(([reason], n) => idle.width ?
		idle[reason].map((share, i) => ({ from: i * idle.width / 1e9, to: (i + 1) * idle.width / 1e9, share: share / 1000 }))
			.filter(one => one.share) :
		idle.from.map((from, i) => ({ from: from / 1e9, to: (from + idle.took[i]) / 1e9, share: 1, reason: idle.reason[i] }))
			.filter(one => one.reason === n));

	const idleAt = at => idle.width ? Math.floor(at / idle.width) :
		idle.from.findLastIndex((from, i) => from <= at && at < from + idle.took[i]);

	function tellIdle(at) {
		const i = idleAt(at);

		if (idle.width)
			return jobs.reasons.filter(([reason]) => idle[reason][i])
				.map(([reason, text]) => `${text} ${number(idle[reason][i] / 1000, "%")}`).join(", ") || "-";
		if (i < 0)
			return "-";
		return `${jobs.reasons[idle.reason[i]][1]}, ${ms(idle.took[i] / 1e9)}` +
			(idle.queue[i] < 0 ? "" : ` (${names[idle.queue[i]]})`);
	}

	function tellJob(lane, i) {
		const fence = lane.fence[i] < 0 ? "" : " for " + names[lane.fence[i]];

		return [
			lane.waited[i] && `waited ${ms(lane.waited[i] / 1e9)}${fence}`,
			lane.ready[i] && `ready ${ms(lane.ready[i] / 1e9)}`,
			lane.took[i] && `ran ${ms(lane.took[i] / 1e9)}`,
			lane.thread[i] && `thread ${lane.thread[i]}`,
			outcomes[lane.outcome[i]],
		].filter(Boolean).join(", ");
	}

	function tell(lane, at) {
		const i = jobAt(lane, at);

		if (i < 0)
			return "-";
		if (!lane.width)
			return tellJob(lane, i);
		return `${number(lane.share[i] / 1000, "%")}, ${lane.count[i]} jobs` +
			(lane.run[i] === null ? "" : "; longest: " + tellJob(lane, i));
	}

	function over(plot) {
		const { ctx, bbox } = plot;
		const height = bbox.height / rowCount, gap = 3 * devicePixelRatio;
		const floor = () => new Float32Array(Math.round(bbox.width));

		ctx.save();
		ctx.beginPath();
		ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
		ctx.clip();
		let drawn = floor();
		jobs.reasons.forEach(([reason], n) => {
			drawn = drawColumns(plot, columnsOf(plot, idleParts[n]), bbox.top + gap, height - gap, look(reasonColors[reason]), drawn);
		});
		laneParts.forEach((parts, n) => {
			const top = bbox.top + (n + 1) * height + gap;

			drawColumns(plot, columnsOf(plot, parts), top, height - gap, look(colors[n]), floor());
			ctx.fillStyle = look("back");
			for (const { from, to } of lanes[n].width ? [] : parts) {
				const edge = plot.valToPos(to, "x", true);

				if (edge - plot.valToPos(from, "x", true) > 4 * devicePixelRatio)
					ctx.fillRect(edge - devicePixelRatio, top, devicePixelRatio, height - gap);
			}
		});
		ctx.restore();
	}

	// From where the job at the cursor was queued to where it ran, in each lane.
	const arrows = lanes.map(() => make("div", { className: "wait", hidden: true }, make("i"), make("b")));

	function moved(plot) {
		const at = plot.cursor.left >= 0 ? plot.posToVal(plot.cursor.left, "x") * 1e9 : null;

		lanes.forEach((lane, n) => {
			const i = at === null ? -1 : jobAt(lane, at);
			const waited = i < 0 ? 0 : (lane.waited[i] || 0), all = i < 0 ? 0 : waited + lane.ready[i];
			const arrow = arrows[n];

			arrow.hidden = !all;
			if (!all)
				return;
			const from = (lane.run[i] - all) / 1e9, to = lane.run[i] / 1e9;
			const left = plot.valToPos(from, "x"), width = plot.valToPos(to, "x") - left;

			arrow.dataset.time = from + " " + to;
			arrow.style.left = left + "px";
			arrow.style.width = width + "px";
			arrow.style.top = (n + 1.5) / rowCount * 100 + "%";
			arrow.children[0].style.width = waited / all * 100 + "%";
			arrow.children[1].style.width = (1 - waited / all) * 100 + "%";
		});
	}

	const none = xs.map(() => null);
	const row = (label, color, text) => ({
		label, color: () => look(color), paths: () => null, points: { show: false },
		value: (u, value, s, i) => i === null || !(u.cursor.left >= 0) ? "-" : text(u.posToVal(u.cursor.left, "x") * 1e9),
	});
	const plot = draw(part, [row("Idle", "dim", tellIdle),
		...lanes.map((lane, n) => row(`Queue ${n + 1}: ${names[lane.name]}`, colors[n], at => tell(lane, at)))],
	Array(rowCount).fill(none), {
		range: () => [-rowCount, 0], text: value => value > -1 ? "Idle" : "Queue " + Math.round(-value - 0.5),
		axis: { splits: () => Array.from({ length: rowCount }, (one, n) => -n - 0.5), grid: { show: false } },
	}, { height: 60 + 22 * rowCount, over, moved, cursor: { points: { show: false }, y: false } });

	plot.over.append(...arrows);
	onClick(plot, (x, y) => {
		const lane = lanes[Math.floor(y * rowCount) - 1];
		const list = lane || idle, i = lane ? jobAt(lane, x * 1e9) : idleAt(x * 1e9);

		if (i < 0 || !list.took || list.took[i] === null || list.took[i] === undefined)
			return;
		const from = lane ? lane.run[i] - lane.ready[i] - (lane.waited[i] || 0) : idle.from[i];

		zoom(from / 1e9, ((lane ? lane.run[i] : from) + list.took[i]) / 1e9);
	});
}

// ---- Counters that are added ----

const rows = new Map([...document.querySelectorAll("tr[data-name]")].map(row => [row.dataset.name, row]));
const added = new Map();

const titleOf = row => row.querySelector("th").firstChild.textContent;

function addCounter(name) {
	const row = rows.get(name), line = data.counters[name];

	if (!row || !line || added.has(name))
		return;
	const cells = row.querySelectorAll("td");
	const unit = cells[8].textContent;
	const drop = make("button", { type: "button", textContent: "Remove" });
	const part = partOf(titleOf(row), `${name}: median ${cells[4].textContent}, 95th percentile ${cells[5].textContent}, ` +
		`99th ${cells[6].textContent} ${unit}`, drop);

	part.dataset.counter = name;
	drop.onclick = () => {
		remove(part);
		part.remove();
		added.delete(name);
		keep("add", [...added.keys()].join(","));
	};
	added.set(name, part);
	drawLines(part, [lineOf({ ...line, name: titleOf(row) })], unit, ["c" + ((added.size - 1) % 5 + 1)]);
	keep("add", [...added.keys()].join(","));
	return part;
}

function showCounter(name) {
	const part = added.get(name) || addCounter(name);

	if (part)
		part.scrollIntoView({ block: "center" });
}

// ---- All of it ----

function start() {
	const wanted = { zoom: state.get("zoom"), at: state.get("at"), add: state.get("add") };

	find("#theme").hidden = find("#bar").hidden = false;
	find("#theme select").onchange = event => setTheme(event.target.value);
	if (["light", "dark"].includes(state.get("theme")))
		setTheme(state.get("theme"));

	(data.frames || []).forEach(drawFrames);
	if (find("#frames"))
		clickFrames();
	if (data.jobs)
		drawJobs(data.jobs);
	drawCurves("load", "GPU load", "share of time (a sleeping GPU counts as idle) and of clock cycles (while powered)", "%", ["c1", "c2"], partRange);
	drawCurves("frequency", "Frequency", "mean while the GPU was active", "Hz", ["c3"]);
	drawTopdown();
	drawCurves("bandwidth", "External memory", "bytes per second", "B/s", ["c1", "c4"]);
	drawCurves("units", "Queues and tiler", "share of time in which each was active", "%", ["c1", "c2", "c3", "c4", "c5"], partRange);
	drawCores();

	for (const mark of marks)
		if (time.marks.some(one => one & mark.bits)) {
			const color = make("i");

			color.style.background = `var(--${mark.color})`;
			find("#marks").append(make("span", {}, color, mark.name));
		}

	for (const [name, row] of rows) {
		find("#names").append(make("option", { value: name, textContent: titleOf(row) }));
		row.querySelector("th").onclick = () => showCounter(name);
	}
	find("#counters").classList.add("live");
	find("#add").onchange = event => {
		const text = event.target.value.toLowerCase();
		const found = [...rows].find(([name, row]) => name.toLowerCase() === text || titleOf(row).toLowerCase() === text);

		if (found) {
			event.target.value = "";
			showCounter(found[0]);
		}
	};
	for (const name of (wanted.add || "").split(","))
		addCounter(name);

	const [from, to] = (wanted.zoom || "").split(",").map(Number);
	if (to > from && to > 0 && from < end)
		zoom(from, to);
	else
		zoom(0, end);
	find("#whole").onclick = () => zoom(0, end);

	// Where the cursor is, all plots have it, by what they share.
	if (wanted.at !== null)
		setTimeout(() => {
			for (const plot of plots)
				plot.setCursor({ left: plot.valToPos(Number(wanted.at), "x"), top: 1 });
		});

	addEventListener("resize", () => {
		for (const plot of plots)
			plot.setSize({ width: widthOf(), height: plot.height });
	});
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
	tellBack();
}

try {
	start();
} catch (error) {
	fail(error.message);
}
})();
