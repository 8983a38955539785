// SPDX-License-Identifier: MIT
// The page that `gputap report --html` writes. The element "data" contains its data as JSON. Texts
// of the traced program become text nodes or canvas text, never markup.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);

// Numbers, formatted as in the terminal's tables -------------------------------------------

function three(value) {
	return value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
}

function duration(ns) {
	for (const [unit, size] of [["s", 1e9], ["ms", 1e6], ["us", 1e3]])
		if (ns >= size * (unit === "us" ? 1 : 0.9995))
			return `${three(ns / size)} ${unit}`;
	return `${Math.round(ns)} ns`;
}

function bytes(value) {
	for (const [unit, size] of [["TiB", 2 ** 40], ["GiB", 2 ** 30], ["MiB", 2 ** 20],
	                            ["KiB", 1024]])
		if (value >= (unit === "KiB" ? size : size * 1023.5 / 1024))
			return `${three(value / size)} ${unit}`;
	return `${value} B`;
}

function rate(value) {
	for (const [unit, size] of [["TB/s", 1e12], ["GB/s", 1e9], ["MB/s", 1e6], ["kB/s", 1e3]])
		if (value >= size * 0.9995)
			return `${three(value / size)} ${unit}`;
	return `${value.toFixed(0)} B/s`;
}

const count = value => value.toLocaleString("en-US");

const formats = {
	count, signed: count, id: String, ns: duration, bytes,
	rate,
	share: value => `${(value * 100).toFixed(1)} %`,
	text: String, lines: value => value.trimEnd(),
};

const isText = column => column.type === "text" || column.type === "lines";

function element(name, properties = {}, ...children) {
	const e = Object.assign(document.createElement(name), properties);
	e.append(...children);
	return e;
}

// First screen -----------------------------------------------------------------------------

// Colours of the kinds of time, by label of the first screen and by table.
const COLORS = {
	Kernels: "kernel", Copies: "copy", Idle: "idle", Calls: "call", Waits: "wait",
	kernels: "kernel", copies: "copy", idle: "idle", gaps: "idle", operations: "call",
	latency: "call", Ranges: "range", ranges: "range", operators: "range", graphs: "kernel",
	devices: "kernel",
};
const BAD = ["Failed", "Events", "Refused"];
const LABEL = 9; // number of columns of a label, like UI_LABEL

function shareBar(share, color) {
	const bar = element("span", {className: "share"}), part = element("i");
	part.style.width = `${Math.min(100, Math.max(0, share * 100))}%`;
	part.style.background = `var(--${color || "other"})`;
	bar.append(part);
	return bar;
}

// "464 ms  77.0%   1,000 x 464 us    name", in the columns of overview.c's print_rows()
function overviewRow(text, color) {
	const part = (from, to) => text.slice(from, to).trim();
	return element("tr", {},
		element("td", {className: "n", textContent: part(0, 8)}),
		element("td", {className: "n", textContent: part(8, 15).replace("%", " %")}),
		element("td", {className: "wide"}, shareBar(parseFloat(part(8, 15)) / 100, color)),
		element("td", {className: "n wide", textContent: `${part(15, 26)} x ${part(28, 37)}`}),
		element("td", {className: "name", textContent: part(38)}));
}

function drawOverview(text) {
	const section = element("section", {id: "overview"});
	let label = "", body = null, into = null;

	for (const line of text.split("\n").filter(l => l.trim())) {
		const name = line.slice(0, LABEL).trim(), rest = line.slice(LABEL);
		if (!name && /^ +time +share +count/.test(rest))
			continue; // heading of the rows
		if (name || !into) {
			label = name;
			body = null;
			const head = element("h3", {textContent: label});
			into = element("div", {className: "content"});
			section.append(element("div", {className: "part"}, head, into));
			if (COLORS[label] || BAD.includes(label))
				head.style.borderColor = `var(--${COLORS[label] || "bad"})`;
		}
		if (/^ *[\d.]+ \S+ +[\d.]+% +[\d,]+ x /.test(rest)) {
			if (!body) {
				body = element("tbody");
				into.append(element("div", {className: "scroll"},
				                    element("table", {className: "plain"}, body)));
			}
			body.append(overviewRow(rest, COLORS[label]));
			continue;
		}
		const busy = name && /^busy .*? \(([\d.]+)%\)/.exec(rest);
		into.append(element("p", {textContent: rest.trim(),
		                          className: BAD.includes(label) ? "bad" : ""}));
		if (busy)
			into.append(shareBar(busy[1] / 100, "kernel"));
	}
	return section;
}

// Tables -----------------------------------------------------------------------------------

// Return the numbers of the visible columns. The column with the row's name comes first and is
// always visible.
function shown(table) {
	const order = table.columns.map((c, i) => i), last = table.columns.at(-1);
	if (order.length > 1 && last.type === "text")
		order.unshift(order.pop());
	return order.filter(i => {
		const c = table.columns[i], values = table.rows.map(r => r[i]);
		if (c.show === "data")
			return false;
		if (c.show === "any")
			return values.some(v => v !== null && v !== 0 && v !== "");
		return c.show !== "differ" || values.some(v => v !== values[0]);
	});
}

function compare(a, b) {
	if (a === null || b === null)
		return (a === null) - (b === null);
	return typeof a === "number" ? b - a : a < b ? -1 : a > b ? 1 : 0;
}

function drawTable(table) {
	const section = element("section", {id: `table-${table.name}`});
	const columns = shown(table);
	const body = element("tbody"), heads = [];
	const note = element("p", {className: "note"});
	let order = -1, backwards = false, wanted = "";

	const texts = table.rows.map(row => columns.map(
		i => row[i] === null ? "" : formats[table.columns[i].type](row[i])));

	function fill() {
		let rows = table.rows.map((row, i) => i).filter(
			i => !wanted || texts[i].some(t => t.toLowerCase().includes(wanted)));
		if (order >= 0)
			rows.sort((a, b) => (backwards ? -1 : 1) *
				compare(table.rows[a][order], table.rows[b][order]) || a - b);
		body.replaceChildren(...rows.map(i => element("tr", {}, ...columns.map((c, k) => {
			const column = table.columns[c];
			const cell = element("td", {textContent: texts[i][k]});
			cell.classList.add(isText(column) ? column.type : "n");
			if (column.type === "share" && table.rows[i][c] !== null)
				cell.append(shareBar(table.rows[i][c], COLORS[table.name]));
			if (column.bad && table.rows[i][c])
				cell.classList.add("bad");
			return cell;
		}))));
		heads.forEach((h, k) => h.setAttribute("aria-sort", columns[k] !== order ? "none"
			: isText(table.columns[order]) !== backwards ? "ascending"
			: "descending"));
		note.textContent = `${count(rows.length)} of ${count(table.total)} rows` +
			(table.total > table.rows.length
				? `; the first ${count(table.rows.length)} are in this file` : "");
		section.hidden = wanted && !rows.length;
	}

	for (const c of columns) {
		const column = table.columns[c];
		const sort = element("button", {type: "button", textContent: column.title});
		sort.title = `sort by ${column.key}`;
		sort.onclick = () => {
			backwards = order === c && !backwards;
			order = c;
			fill();
		};
		heads.push(element("th", {scope: "col", className: isText(column) ? "" : "n"},
		                   sort));
	}
	const heading = element("h2", {textContent: table.heading || table.name});
	heading.style.borderColor = `var(--${COLORS[table.name] || "other"})`;
	section.append(
		heading,
		element("div", {className: "scroll"},
		        element("table", {}, element("thead", {}, element("tr", {}, ...heads)), body)),
		note,
		...(table.note ? [element("p", {textContent: table.note})] : []));
	fill();
	return {section, rows: table.rows.length, filter: text => {
		wanted = text.toLowerCase();
		fill();
	}};
}

// A single box for the rows of all tables.
function drawFilter(tables) {
	const filter = element("input", {type: "search", id: "filter",
	                                 placeholder: "filter the rows of all tables"});
	const none = element("span", {className: "note", textContent: "no row matches",
	                              hidden: true});
	filter.setAttribute("aria-label", "filter the rows of all tables");
	filter.oninput = () => {
		for (const table of tables)
			table.filter(filter.value);
		none.hidden = tables.some(table => !table.section.hidden);
	};
	return element("div", {className: "bar filter"}, filter, none);
}

// Timeline ---------------------------------------------------------------------------------

const WORK = ["kernel", "copy", "other", "call", "wait", "range"];
const AXIS = 24, GROUP = 22;
let LABELS = 190; // number of columns for names; fewer on a narrow screen

function drawTimeline(time) {
	const canvas = element("canvas", {tabIndex: 0, id: "timeline"});
	const tip = element("p", {className: "tip", role: "status"});
	const whole = {from: time.start, to: Math.max(time.end, time.start + 1)};
	const view = {...whole};
	const style = getComputedStyle(document.documentElement);
	let lanes = [], height = 0, width = 0, chosen = null, hatch = null;

	canvas.setAttribute("role", "img");
	canvas.setAttribute("aria-label", "timeline of devices, queues, threads and ranges; arrows " +
		"move, + and - zoom, 0 shows all, n and p go from slice to slice");

	function layOut() {
		let group = null, at = AXIS;
		lanes = [];
		time.rows.forEach((row, number) => {
			if (row.group !== group) {
				lanes.push({at, height: GROUP, title: row.group});
				at += GROUP;
				group = row.group;
			}
			const deep = row.kind === "thread"
				? Math.min(4, 1 + row.slices.reduce((d, s) => Math.max(d, s[4]), 0)) : 1;
			const size = row.kind === "ranges" ? 18 : row.kind === "thread" ? 12 + 14 * deep
				: row.kind === "memory" ? 44 : 30;
			lanes.push({at, height: size, row, number, deep});
			at += size + 3;
		});
		height = at + 4;
	}

	const x = ns => LABELS + (ns - view.from) / (view.to - view.from) * (width - LABELS);
	const ns = px => view.from + (px - LABELS) / (width - LABELS) * (view.to - view.from);
	const color = name => style.getPropertyValue(`--${name}`);

	function step() {
		const least = (view.to - view.from) * 90 / (width - LABELS);
		const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
		return power * [1, 2, 5, 10].find(f => f * power >= least);
	}

	function drawAxis(g) {
		const s = step();
		g.fillStyle = color("faint");
		for (let t = Math.ceil(view.from / s) * s; t <= view.to; t += s) {
			const text = t >= 1e9 || s >= 1e9 ? `${+(t / 1e9).toFixed(9)} s`
				: s >= 1e6 ? `${t / 1e6} ms` : s >= 1e3 ? `${+(t / 1e6).toFixed(3)} ms`
				: `${t} ns`;
			if (x(t) + 3 + g.measureText(text).width <= width)
				g.fillText(text, x(t) + 3, 16);
			g.globalAlpha = .35;
			g.fillRect(Math.round(x(t)), 0, 1, height);
			g.globalAlpha = 1;
		}
	}

	function drawBins(g, lane, bins, name, alpha) {
		const part = (whole.to - whole.from) / bins.length, bottom = lane.at + lane.height;
		const first = Math.max(0, Math.floor((view.from - whole.from) / part));
		const last = Math.min(bins.length, Math.ceil((view.to - whole.from) / part));
		g.fillStyle = color(name);
		g.globalAlpha = alpha;
		for (let i = first; i < last; i++)
			if (bins[i]) {
				const a = Math.max(x(whole.from + i * part), LABELS);
				const size = Math.max(1, bins[i] / 1000 * lane.height);
				g.fillRect(a, bottom - size, Math.max(.7, x(whole.from + (i + 1) * part) - a),
				           size);
			}
		g.globalAlpha = 1;
	}

	// [start, length, name, work, depth, colour]
	function place(lane, s) {
		const a = Math.max(x(s[0]), LABELS), b = Math.min(x(s[0] + s[1]), width);
		const thread = lane.row.kind === "thread";
		return {a, b, top: lane.at + (thread ? 12 + 14 * Math.min(s[4], lane.deep - 1) : 0),
		        size: thread ? 13 : lane.height};
	}

	function drawSlices(g, lane) {
		for (const s of lane.row.slices) {
			if (s[0] > view.to)
				break;
			const {a, b, top, size} = place(lane, s);
			if (s[0] + s[1] < view.from || b - a < .8 && lane.row.kind !== "ranges" && s[1])
				continue;
			g.fillStyle = s[5] || color(WORK[s[3]]);
			g.fillRect(a, top, Math.max(b - a - (b - a > 3 ? .6 : 0), .8), size);
			if (b - a > 26) {
				g.save();
				g.beginPath();
				g.rect(a, top, b - a - 2, size);
				g.clip();
				g.fillStyle = color("ink");
				g.fillText(time.names[s[2]], a + 3, top + Math.min(size, 20) / 2 + 4.5);
				g.restore();
			}
			if (s === chosen) {
				g.strokeStyle = color("text");
				g.lineWidth = 2;
				g.strokeRect(a, top + 1, Math.max(b - a, 2), size - 2);
			}
		}
	}

	// memory in use: [ns, bytes, ns, bytes, ..]
	function drawMemory(g, lane) {
		const points = lane.row.points, most = lane.row.most || 1;
		const bottom = lane.at + lane.height;
		const y = value => bottom - value / most * (lane.height - 4);
		g.beginPath();
		g.moveTo(Math.max(x(points[0]), LABELS), bottom);
		for (let i = 0; i < points.length; i += 2) {
			const a = Math.min(Math.max(x(points[i]), LABELS), width);
			g.lineTo(a, i ? y(points[i - 1]) : bottom);
			g.lineTo(a, y(points[i + 1]));
		}
		g.lineTo(width, y(points[points.length - 1]));
		g.lineTo(width, bottom);
		g.fillStyle = color("memory");
		g.globalAlpha = .75;
		g.fill();
		g.globalAlpha = 1;
	}

	// Pauses are hatched, because slices may have any colour: [start, length, name]
	function makeHatch(g) {
		const tile = element("canvas", {width: 8, height: 8}), t = tile.getContext("2d");
		t.strokeStyle = color("pause");
		t.lineWidth = 1.5;
		t.beginPath();
		for (const from of [-8, 0, 8]) {
			t.moveTo(from, 8);
			t.lineTo(from + 8, 0);
		}
		t.stroke();
		return g.createPattern(tile, "repeat");
	}

	const pausesOf = row => row.pauses === undefined ? [] : time.pauses[row.pauses];

	function drawPauses(g, lane) {
		g.fillStyle = hatch;
		for (const [start, length] of pausesOf(lane.row)) {
			const a = Math.max(x(start), LABELS), b = Math.min(x(start + length), width);
			if (b > a)
				g.fillRect(a, lane.at, Math.max(b - a, .8), lane.height);
		}
	}

	function cut(g, text, room) {
		if (g.measureText(text).width <= room)
			return text;
		while (text && g.measureText(`${text}..`).width > room)
			text = text.slice(0, -1);
		return `${text}..`;
	}

	function drawLabel(g, lane) {
		const row = lane.row, room = LABELS - 8 - 14;
		// "device memory (hip), device 0": the device is shown in the line of the peak
		const [name, device] = row.kind === "memory" ? row.label.split(", ") : [row.label];
		const share = row.busy / ((row.known === undefined ? whole.to - whole.from : row.known) || 1);
		g.save();
		g.beginPath();
		g.rect(0, lane.at, LABELS - 8, lane.height);
		g.clip();
		g.fillStyle = color("text");
		g.fillText(row.kind === "ranges" ? "ranges" : cut(g, name, room), 14, lane.at + 13);
		if (row.kind === "memory" || lane.height >= 26) {
			g.fillStyle = color("faint");
			g.fillText(row.kind === "memory"
				? cut(g, `${device ? `${device}, ` : ""}peak ${bytes(row.most)}`, room)
				: `${(share * 100).toFixed(0)} % ${row.kind === "thread" ? "in calls" : "busy"}`,
				14, lane.at + 26);
		}
		g.restore();
	}

	function draw() {
		const ratio = window.devicePixelRatio || 1;
		width = canvas.parentElement.clientWidth;
		LABELS = width < 600 ? Math.round(width * .3) : 190;
		canvas.width = width * ratio;
		canvas.height = height * ratio;
		canvas.style.height = `${height}px`;
		const g = canvas.getContext("2d");
		g.scale(ratio, ratio);
		g.font = "12px system-ui, sans-serif";
		g.fillStyle = color("back");
		g.fillRect(0, 0, width, height);
		hatch = makeHatch(g);
		drawAxis(g);
		for (const lane of lanes) {
			if (lane.title !== undefined) {
				g.fillStyle = color("panel");
				g.fillRect(0, lane.at, width, lane.height);
				g.fillStyle = color("text");
				g.font = "600 12px system-ui, sans-serif";
				g.fillText(lane.title, 8, lane.at + 15);
				g.font = "12px system-ui, sans-serif";
				continue;
			}
			const row = lane.row;
			drawPauses(g, lane);
			if (row.kind === "memory")
				drawMemory(g, lane);
			if (row.bins && row.kind !== "thread")
				drawBins(g, lane, row.bins, "kernel", .45);
			if (row.kind === "thread") {
				const strip = {at: lane.at, height: 10};
				drawBins(g, strip, row.bins, "call", .8);
				drawBins(g, strip, row.waits, "wait", 1);
			}
			if (row.slices)
				drawSlices(g, lane);
			g.fillStyle = color("back");
			g.fillRect(0, lane.at, LABELS - 4, lane.height);
			drawLabel(g, lane);
		}
	}

	function move(from, to) {
		const length = Math.min(Math.max(to - from, 20), whole.to - whole.from);
		view.from = Math.min(Math.max(from, whole.from), whole.to - length);
		view.to = view.from + length;
		requestAnimationFrame(draw);
	}

	function zoom(factor, at) {
		at = at === undefined ? (view.from + view.to) / 2 : at;
		move(at - (at - view.from) * factor, at + (view.to - at) * factor);
	}

	function describe(lane, s) {
		chosen = s;
		tip.textContent = `${time.names[s[2]]}: ${duration(s[1])}, from ${duration(s[0])}, ` +
			`${lane.row.group}, ${lane.row.label}`;
		requestAnimationFrame(draw);
	}

	function hit(px, py) {
		const lane = lanes.find(l => l.row && py >= l.at && py < l.at + l.height);
		if (!lane || px < LABELS)
			return null;
		const found = (lane.row.slices || []).filter(s => {
			const {a, b, top, size} = place(lane, s);
			return px >= a - 1 && px <= Math.max(b, a + 1) && py >= top && py < top + size &&
				s[0] <= view.to && s[0] + s[1] >= view.from;
		});
		return {lane, slice: found[found.length - 1]};
	}

	function describeBin(lane, at) {
		const row = lane.row;
		const pause = pausesOf(row).find(([start, length]) => start <= at && at < start + length);
		if (pause) {
			tip.textContent = `${row.label} at ${duration(at)}: ${time.names[pause[2]]}, for ` +
				duration(pause[1]);
			return;
		}
		if (row.kind === "memory") {
			let i = 0;
			while (i + 2 < row.points.length && row.points[i + 2] <= at)
				i += 2;
			tip.textContent = `${row.label} at ${duration(at)}: ` +
				bytes(row.points[i] <= at ? row.points[i + 1] : 0);
		} else if (row.bins) {
			const part = (whole.to - whole.from) / row.bins.length;
			const i = Math.floor((at - whole.from) / part);
			tip.textContent = `${row.label} at ${duration(at)}: ` +
				`${((row.bins[i] || 0) / 10).toFixed(0)} % of ${duration(part)} ` +
				(row.kind === "thread" ? "in calls" : "busy");
		}
	}

	let drag = null;
	canvas.onpointerdown = e => {
		drag = {x: e.offsetX, from: view.from, to: view.to};
		canvas.setPointerCapture(e.pointerId);
	};
	canvas.onpointerup = () => { drag = null; };
	canvas.onpointermove = e => {
		if (drag) {
			const by = (drag.x - e.offsetX) / (width - LABELS) * (drag.to - drag.from);
			move(drag.from + by, drag.to + by);
			return;
		}
		const found = hit(e.offsetX, e.offsetY);
		if (found && found.slice)
			describe(found.lane, found.slice);
		else if (found)
			describeBin(found.lane, ns(e.offsetX));
	};
	canvas.ondblclick = e => {
		const found = hit(e.offsetX, e.offsetY), s = found && found.slice;
		if (s)
			move(s[0] - s[1] * .1, s[0] + s[1] * 1.1);
	};
	canvas.addEventListener("wheel", e => {
		if (!e.ctrlKey && !e.shiftKey && Math.abs(e.deltaX) < Math.abs(e.deltaY) && !e.altKey &&
		    document.activeElement !== canvas)
			return; // the wheel scrolls the page unless the timeline has the focus
		e.preventDefault();
		const by = (view.to - view.from) * .1;
		if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY))
			move(view.from + Math.sign(e.deltaX || e.deltaY) * by,
			     view.to + Math.sign(e.deltaX || e.deltaY) * by);
		else
			zoom(e.deltaY > 0 ? 1.25 : .8, ns(e.offsetX));
	}, {passive: false});

	function go(by) {
		const lane = lanes.find(l => l.row && l.row.slices && l.row.slices.includes(chosen)) ||
			lanes.find(l => l.row && l.row.slices && l.row.slices.length);
		if (!lane)
			return;
		const list = lane.row.slices, i = list.indexOf(chosen) + by;
		const s = list[Math.min(Math.max(i, 0), list.length - 1)];
		if (s[0] < view.from || s[0] + s[1] > view.to)
			move(s[0] - (view.to - view.from) / 2, s[0] + (view.to - view.from) / 2);
		describe(lane, s);
	}

	const keys = {
		"+": () => zoom(.8), "=": () => zoom(.8), "-": () => zoom(1.25),
		w: () => zoom(.8), s: () => zoom(1.25), 0: () => move(whole.from, whole.to),
		n: () => go(1), p: () => go(-1),
	};
	for (const [names, by] of [[["ArrowLeft", "a"], -.1], [["ArrowRight", "d"], .1]])
		for (const name of names)
			keys[name] = () => move(view.from + by * (view.to - view.from),
			                        view.to + by * (view.to - view.from));
	canvas.onkeydown = e => {
		if (keys[e.key] && !e.ctrlKey && !e.metaKey) {
			e.preventDefault();
			keys[e.key]();
		}
	};

	const buttons = [["zoom in", keys["+"]], ["zoom out", keys["-"]], ["all", keys[0]]].map(
		([text, run]) => element("button", {type: "button", textContent: text, onclick: run}));
	// rows without slices also have shading
	const shaded = {
		kernel: time.rows.some(r => r.bins && r.kind !== "thread"),
		call: time.rows.some(r => r.kind === "thread"),
		wait: time.rows.some(r => r.waits && r.waits.some(w => w)),
		memory: time.rows.some(r => r.kind === "memory"),
	};
	const words = {kernel: "kernel; paler: device busy", wait: "call that waits",
	               memory: "memory in use"};
	const legend = ["kernel", "copy", "other", "call", "wait", "range", "memory"].filter(
		name => shaded[name] || time.rows.some(
			r => (r.slices || []).some(s => WORK[s[3]] === name))).map(name => {
		const box = element("i");
		box.style.background = `var(--${name})`;
		return element("span", {className: "key"}, box, words[name] || name);
	});
	if (time.pauses.some(list => list.length)) {
		const box = element("i", {className: "hatch"});
		legend.push(element("span", {className: "key"}, box, "not recorded"));
	}
	layOut();
	const section = element("section", {id: "pictures"},
		element("h2", {textContent: "Timeline"}),
		element("div", {className: "bar"}, ...buttons, ...legend),
		element("div", {className: "picture"}, canvas), tip,
		...time.notes.map(text => element("p", {className: "note", textContent: text})),
		element("p", {className: "note", textContent:
			"Click the timeline first. The wheel, + and - zoom. Dragging, the arrows, and shift " +
			"with the wheel move. 0 shows everything. n and p select the next and the previous " +
			"slice. A double click zooms to a slice."}));
	new ResizeObserver(() => requestAnimationFrame(draw)).observe(canvas.parentNode);
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
	window.addEventListener("beforeprint", draw);
	return section;
}

// The page ---------------------------------------------------------------------------------

const main = document.getElementById("main");
const links = element("nav");
links.setAttribute("aria-label", "tables");
main.append(element("h1", {textContent: data.title}),
            element("pre", {textContent: data.head}));
if (data.overview)
	main.append(drawOverview(data.overview));
main.append(links);
if (data.time.rows.length) {
	main.append(drawTimeline(data.time));
	links.append(element("a", {href: "#pictures", textContent: "timeline"}));
}
const tables = data.tables.map(drawTable);
if (tables.some(table => table.rows > 1))
	main.append(drawFilter(tables));
tables.forEach((table, i) => {
	const name = data.tables[i].name;
	main.append(table.section);
	links.append(element("a", {href: `#table-${name}`, textContent: name}));
});
