"use strict";
// Plays a recording: WebGL for the scene, 2D canvases for the plots. No other code, no network.
const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);

function bytes(text) {
  const raw = atob(text), out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
  return out.buffer;
}
const time = new Float32Array(bytes(data.time));
const poses = new Uint16Array(bytes(data.poses)); // frame, place, (x y z qx qy qz qw)
const frames = time.length, places = data.places;

// --- small algebra: matrices of 4 x 4 by columns -------------------------------------------------
function placed(p, q, s) {
  const [x, y, z, w] = q;
  return new Float32Array([
    (1 - 2 * (y * y + z * z)) * s[0], 2 * (x * y + z * w) * s[0], 2 * (x * z - y * w) * s[0], 0,
    2 * (x * y - z * w) * s[1], (1 - 2 * (x * x + z * z)) * s[1], 2 * (y * z + x * w) * s[1], 0,
    2 * (x * z + y * w) * s[2], 2 * (y * z - x * w) * s[2], (1 - 2 * (x * x + y * y)) * s[2], 0,
    p[0], p[1], p[2], 1]);
}
function product(a, b) {
  const out = new Float32Array(16);
  for (let c = 0; c < 4; c++) for (let r = 0; r < 4; r++) {
    let sum = 0;
    for (let k = 0; k < 4; k++) sum += a[4 * k + r] * b[4 * c + k];
    out[4 * c + r] = sum;
  }
  return out;
}
const minus = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
function unit(a) { const n = Math.hypot(...a) || 1; return a.map((x) => x / n); }
function perspective(fov, aspect, near, far) {
  const f = 1 / Math.tan(fov / 2), d = near - far;
  return new Float32Array([f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (far + near) / d, -1, 0, 0, 2 * far * near / d, 0]);
}
function lookAt(eye, target) {
  const z = unit(minus(eye, target)), x = unit(cross([0, 0, 1], z)), y = cross(z, x);
  const dot = (a) => -(a[0] * eye[0] + a[1] * eye[1] + a[2] * eye[2]);
  return new Float32Array([x[0], y[0], z[0], 0, x[1], y[1], z[1], 0, x[2], y[2], z[2], 0, dot(x), dot(y), dot(z), 1]);
}

// --- surfaces: corners and normals of triangles --------------------------------------------------
function surface(profile, around) { // of revolution about z: profile of [radius, height, normal r, normal z]
  const corners = [], normals = [];
  const at = ([r, h, nr, nz], k) => {
    const t = 2 * Math.PI * k / around, c = Math.cos(t), s = Math.sin(t);
    return [[r * c, r * s, h], [nr * c, nr * s, nz]];
  };
  for (let i = 0; i + 1 < profile.length; i++) for (let k = 0; k < around; k++) {
    const [a, b, c, d] = [at(profile[i], k), at(profile[i + 1], k), at(profile[i + 1], k + 1), at(profile[i], k + 1)];
    for (const p of [a, b, c, a, c, d]) { corners.push(...p[0]); normals.push(...p[1]); }
  }
  return { corners, normals };
}
function arc(radius, height, from, to, steps) {
  const out = [];
  for (let i = 0; i <= steps; i++) {
    const t = from + (to - from) * i / steps;
    out.push([radius * Math.cos(t), height + radius * Math.sin(t), Math.cos(t), Math.sin(t)]);
  }
  return out;
}
const up = Math.PI / 2;
function cube() {
  const corners = [], normals = [];
  for (let axis = 0; axis < 3; axis++) for (const sign of [-1, 1]) {
    const [u, v] = [(axis + 1) % 3, (axis + 2) % 3];
    for (const [a, b] of [[-1, -1], [1, -1], [1, 1], [-1, -1], [1, 1], [-1, 1]]) {
      const p = [0, 0, 0], n = [0, 0, 0];
      p[axis] = sign / 2; p[u] = a / 2; p[v] = b / 2; n[axis] = sign;
      corners.push(...p); normals.push(...n);
    }
  }
  return { corners, normals };
}
function flat(mesh) { // triangles with a normal each
  const p = new Float32Array(bytes(mesh.corners)), normals = new Float32Array(p.length);
  for (let i = 0; i < p.length; i += 9) {
    const a = p.slice(i, i + 3), n = unit(cross(minus(p.slice(i + 3, i + 6), a), minus(p.slice(i + 6, i + 9), a)));
    for (let k = 0; k < 9; k++) normals[i + k] = n[k % 3];
  }
  return { corners: p, normals };
}
const makers = { // a unit surface and its scale, or a surface of its own
  box: (s) => ["box", cube, s.size],
  sphere: (s) => ["sphere", () => surface(arc(1, 0, up, -up, 14), 24), [s.size[0], s.size[0], s.size[0]]],
  ellipsoid: (s) => ["sphere", () => surface(arc(1, 0, up, -up, 14), 24), s.size],
  cylinder: (s) => ["cylinder", () => surface([[0, 0.5, 0, 1], [1, 0.5, 0, 1], [1, 0.5, 1, 0], [1, -0.5, 1, 0],
    [1, -0.5, 0, -1], [0, -0.5, 0, -1]], 24), [s.size[0], s.size[0], s.size[1]]],
  capsule: (s) => ["capsule " + s.size, () => surface([...arc(s.size[0], s.size[1] / 2, up, 0, 7),
    ...arc(s.size[0], -s.size[1] / 2, 0, -up, 7)], 24), [1, 1, 1]],
  mesh: (s) => ["mesh " + s.mesh, () => flat(data.meshes[s.mesh]), s.size],
};

// --- WebGL ---------------------------------------------------------------------------------------
const canvas = byId("view");
const gl = canvas.getContext("webgl2", { antialias: true, stencil: true, preserveDrawingBuffer: true });
byId("name").textContent = data.name + (gl ? "" : ": this browser has no WebGL 2, only the plots are shown");
if (data.missing.length) {
  byId("missing").hidden = false;
  byId("missing").querySelector("summary").textContent = data.missing.length + " meshes are not shown";
  byId("missing").querySelector("div").textContent = data.missing.join("\n");
}

const VERTEX = `#version 300 es
uniform mat4 camera, place; in vec3 corner, normal; out vec3 n, world;
void main() {
  vec4 p = place * vec4(corner, 1.0); world = p.xyz;
  n = transpose(inverse(mat3(place))) * normal; gl_Position = camera * p;
}`;
const FRAGMENT = `#version 300 es
precision highp float;
uniform vec4 color; uniform float tile; uniform vec3 eye; in vec3 n, world; out vec4 result;
void main() {
  vec3 u = normalize(n), toward = normalize(eye - world);
  if (dot(u, toward) < 0.0) u = -u;
  float light = 0.45 + 0.4 * max(dot(u, normalize(vec3(0.4, 0.3, 1.0))), 0.0) + 0.25 * max(dot(u, toward), 0.0);
  vec4 c = color;
  if (tile > 0.0) {
    vec2 k = floor(world.xy / tile);
    c.rgb *= mod(k.x + k.y, 2.0) < 0.5 ? 1.0 : 0.88;
    c.a *= clamp(1.6 - length(world.xy - eye.xy) / (60.0 * tile), 0.0, 1.0);
    light = 1.0;
  }
  result = vec4(c.rgb * light, c.a);
}`;
let program, slots = {}, things = [];
const made = new Map();
function compile() {
  program = gl.createProgram();
  for (const [kind, text] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, text); gl.compileShader(shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
    gl.attachShader(program, shader);
  }
  gl.bindAttribLocation(program, 0, "corner"); gl.bindAttribLocation(program, 1, "normal");
  gl.linkProgram(program);
  for (const name of ["camera", "place", "color", "tile", "eye"]) slots[name] = gl.getUniformLocation(program, name);
}
function upload(key, make) {
  if (made.has(key)) return made.get(key);
  const { corners, normals } = make(), array = gl.createVertexArray();
  gl.bindVertexArray(array);
  [corners, normals].forEach((numbers, k) => {
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(numbers), gl.STATIC_DRAW);
    gl.enableVertexAttribArray(k); gl.vertexAttribPointer(k, 3, gl.FLOAT, false, 0, 0);
  });
  const kept = { array, count: corners.length / 3 };
  made.set(key, kept);
  return kept;
}
function build() {
  compile();
  things = data.shapes.map((s) => {
    const [key, make, scale] = makers[s.kind](s);
    return { ...upload(key, make), own: placed(s.position, s.rotation, scale), place: s.place, color: s.color, group: s.group };
  });
  upload("cone", () => surface([[0, 0, 0.7, -0.7], [1, 1, 0.7, -0.7]], 32));
  upload("shaft", () => surface([[1, 0, 1, 0], [1, 1, 1, 0]], 12));
  upload("tip", () => surface([[0, 0, 0, -1], [1, 0, 0, -1], [1, 0, 0.9, 0.4], [0, 1, 0.9, 0.4]], 16));
  const size = 60 * data.radius;
  upload("ground", () => ({ corners: [[-1, -1], [1, -1], [1, 1], [-1, -1], [1, 1], [-1, 1]].flatMap(([x, y]) => [x * size, y * size, 0]),
    normals: Array(6).fill([0, 0, 1]).flat() }));
}

// --- where bodies are at a time ------------------------------------------------------------------
const hidden = new Set(data.hidden);
function poseAt(frame, k) {
  const i = (frame * places + k) * 7, low = data.low[k], step = data.step[k];
  return [[0, 1, 2].map((a) => low[a] + step[a] * poses[i + a]), [3, 4, 5, 6].map((a) => poses[i + a] / 32767 - 1)];
}
function placesAt(x) { // between two frames: positions and quaternions in proportion
  const first = Math.min(Math.floor(x), frames - 1), second = Math.min(first + 1, frames - 1), t = x - first;
  const out = [];
  for (let k = 0; k < places; k++) {
    const [p, q] = poseAt(first, k), [p2, q2] = poseAt(second, k);
    const sign = q[0] * q2[0] + q[1] * q2[1] + q[2] * q2[2] + q[3] * q2[3] < 0 ? -1 : 1;
    const mixed = q.map((a, i) => (1 - t) * a + t * sign * q2[i]), n = Math.hypot(...mixed);
    out.push(placed(p.map((a, i) => (1 - t) * a + t * p2[i]), mixed.map((a) => a / n), [1, 1, 1]));
  }
  return out;
}

// --- camera and drawing --------------------------------------------------------------------------
const camera = { turn: -0.9, lift: 0.35, distance: 3.2 * data.radius, target: [...data.center] };
function eye() {
  const c = Math.cos(camera.lift);
  return [camera.target[0] + camera.distance * c * Math.cos(camera.turn),
    camera.target[1] + camera.distance * c * Math.sin(camera.turn),
    camera.target[2] + camera.distance * Math.sin(camera.lift)];
}
let now = 0; // in frames
// Arrows are start and end, cones apex, axis and friction; drawn as they are at the frame before.
const forces = data.forces.map((f) => {
  const counts = new Uint16Array(bytes(f.counts)), numbers = new Float32Array(bytes(f.numbers)), first = [0];
  for (const n of counts) first.push(first[first.length - 1] + n);
  return { group: f.group, width: f.width, first, numbers, color: [...f.color, f.width === 7 ? 0.35 : 1] };
});
function forcesAt(force, frame) {
  const out = [];
  for (let i = force.first[frame]; i < force.first[frame + 1]; i++)
    out.push([...force.numbers.slice(i * force.width, (i + 1) * force.width)]);
  return out;
}
function along(p, d, wide) { // where a unit surface about z stands on p and points along d
  const n = Math.hypot(...d), [x, y, z] = d.map((a) => a / n), w = Math.sqrt(Math.max((1 + z) / 2, 0));
  return placed(p, w > 1e-6 ? [-y / (2 * w), x / (2 * w), 0, w] : [1, 0, 0, 0], [wide, wide, n]);
}
function drawForce(force, put) {
  const t = data.thickness, head = 6 * t;
  for (const f of forcesAt(force, Math.floor(now))) {
    const p = f.slice(0, 3);
    if (force.width === 7) { put({ ...made.get("cone"), color: force.color }, along(p, f.slice(3, 6), f[6] * Math.hypot(...f.slice(3, 6)))); continue; }
    const d = minus(f.slice(3, 6), p), n = Math.hypot(...d), tip = Math.min(head, 0.6 * n);
    const at = (s) => p.map((a, i) => a + d[i] * s);
    put({ ...made.get("shaft"), color: force.color }, along(p, d.map((a) => a * (1 - tip / n)), t));
    put({ ...made.get("tip"), color: force.color }, along(at(1 - tip / n), d.map((a) => a * tip / n), 2.5 * t));
  }
}
const still = new Float32Array([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]);
function draw() {
  const ratio = window.devicePixelRatio || 1;
  const [w, h] = [Math.round(canvas.clientWidth * ratio), Math.round(canvas.clientHeight * ratio)];
  if (canvas.width !== w || canvas.height !== h) { canvas.width = w; canvas.height = h; }
  gl.viewport(0, 0, w, h);
  gl.clearColor(0.11, 0.12, 0.15, 1); gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT | gl.STENCIL_BUFFER_BIT);
  gl.enable(gl.DEPTH_TEST); gl.enable(gl.BLEND);
  gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  gl.useProgram(program);
  const from = eye(), d = camera.distance;
  gl.uniformMatrix4fv(slots.camera, false, product(perspective(0.8, w / Math.max(h, 1), 0.01 * d, 100 * d), lookAt(from, camera.target)));
  gl.uniform3fv(slots.eye, from);
  const at = placesAt(now);
  const put = (thing, place) => {
    gl.uniformMatrix4fv(slots.place, false, place);
    gl.uniform4fv(slots.color, thing.color);
    gl.bindVertexArray(thing.array); gl.drawArrays(gl.TRIANGLES, 0, thing.count);
  };
  gl.uniform1f(slots.tile, 0);
  const seen = things.filter((t) => !hidden.has(t.group));
  for (const is_clear of [false, true]) {
    gl.depthMask(!is_clear);
    for (const t of seen) if ((t.color[3] < 1) === is_clear) put(t, product(t.place < 0 ? still : at[t.place], t.own));
    for (const f of forces) if (!hidden.has(f.group) && (f.color[3] < 1) === is_clear) drawForce(f, put);
    if (!is_clear && data.ground) {
      gl.uniform1f(slots.tile, data.tile);
      put({ ...made.get("ground"), color: [0.3, 0.33, 0.38, 1] }, still);
      gl.uniform1f(slots.tile, 0);
      castShadows(seen, put, (t) => product(t.place < 0 ? still : at[t.place], t.own), 1e-3 * d);
    }
  }
  gl.depthMask(true);
}
// On the ground, away from the light of the shader. The stencil keeps shadows that overlap from adding up.
function castShadows(seen, put, placeOf, above) {
  const flat = new Float32Array([1, 0, 0, 0, 0, 1, 0, 0, -0.4, -0.3, 1e-4, 0, 0, 0, above, 1]);
  gl.enable(gl.STENCIL_TEST);
  gl.stencilFunc(gl.EQUAL, 0, 255); gl.stencilOp(gl.KEEP, gl.KEEP, gl.INCR);
  for (const t of seen) put({ ...t, color: [0, 0, 0, 0.4] }, product(flat, placeOf(t)));
  gl.disable(gl.STENCIL_TEST);
}

// --- plots ---------------------------------------------------------------------------------------
const LINES = ["#6cb6ff", "#ffb454", "#8bd49c"];
const plots = data.plots.map((plot) => {
  const made = document.createElement("canvas");
  byId("plots").append(made);
  const lines = plot.lines.map((line) => ({ name: line.name, values: new Float32Array(bytes(line.values)) }));
  const jump = (e) => { if (e.buttons) seek((e.offsetX - 56) / (made.clientWidth - 66) * (frames - 1)); };
  made.addEventListener("pointerdown", jump); made.addEventListener("pointermove", jump);
  return { title: plot.title, log: plot.log, lines, canvas: made };
});
function drawPlot(plot) {
  const ratio = window.devicePixelRatio || 1, c = plot.canvas, w = c.clientWidth, h = c.clientHeight;
  c.width = w * ratio; c.height = h * ratio;
  const g = c.getContext("2d");
  g.scale(ratio, ratio);
  const f = plot.log ? (x) => Math.log10(Math.max(x, 1e-16)) : (x) => x;
  let low = Infinity, high = -Infinity;
  for (const { values } of plot.lines) for (const x of values) if (isFinite(x)) { low = Math.min(low, f(x)); high = Math.max(high, f(x)); }
  if (!(high > low)) { low -= 1; high += 1; }
  const X = (i) => 56 + (w - 66) * i / Math.max(frames - 1, 1), Y = (x) => h - 18 - (h - 38) * (f(x) - low) / (high - low);
  g.font = "11px sans-serif"; g.fillStyle = "#aab2c0";
  g.fillText(plot.title, 56, 12);
  const shown = (x) => plot.log ? "1e" + x.toFixed(1) : x === 0 || (Math.abs(x) < 1e4 && Math.abs(x) > 1e-3) ? x.toPrecision(3) : x.toExponential(1);
  g.textAlign = "right"; g.fillText(shown(high), 52, 24); g.fillText(shown(low), 52, h - 18);
  plot.lines.forEach(({ name, values }, k) => {
    g.strokeStyle = g.fillStyle = LINES[k % LINES.length];
    g.fillText(name, w - 10 - 90 * (plot.lines.length - 1 - k), 12);
    g.beginPath();
    values.forEach((x, i) => (i ? g.lineTo(X(i), Y(x)) : g.moveTo(X(i), Y(x))));
    g.stroke();
  });
  g.strokeStyle = "#ffffff"; g.globalAlpha = 0.6;
  g.beginPath(); g.moveTo(X(now), 16); g.lineTo(X(now), h - 14); g.stroke();
}

// --- playing -------------------------------------------------------------------------------------
let playing = false, last = 0, waiting = false;
const rate = frames > 1 ? (frames - 1) / (time[frames - 1] - time[0]) : 1;
function show() {
  byId("scrub").value = Math.round(now);
  byId("clock").textContent = time[Math.round(now)].toFixed(3) + " / " + time[frames - 1].toFixed(3) + " s";
  if (gl) draw();
  plots.forEach(drawPlot);
}
function soon(act) { // before the next picture of the screen; a tenth of a second later where there is none
  let is_done = false;
  const once = () => { if (!is_done) { is_done = true; act(performance.now()); } };
  requestAnimationFrame(once);
  setTimeout(once, 100);
}
function refresh() {
  if (waiting) return;
  waiting = true;
  soon((t) => {
    waiting = false;
    if (playing) {
      now += Math.min((t - last) / 1000, 0.25) * rate * Number(byId("speed").value);
      if (now >= frames - 1) { now = frames - 1; play(false); }
      last = t;
    }
    show();
    if (playing) refresh();
  });
}
function seek(frame) { now = Math.min(Math.max(frame, 0), frames - 1); refresh(); }
function play(on) {
  playing = on;
  if (on && now >= frames - 1) now = 0;
  last = performance.now();
  byId("play").textContent = on ? "Pause" : "Play";
  refresh();
}
byId("play").addEventListener("click", () => play(!playing));
byId("scrub").max = frames - 1;
byId("scrub").addEventListener("input", (e) => seek(Number(e.target.value)));
window.addEventListener("keydown", (e) => {
  if (e.key === " ") { e.preventDefault(); play(!playing); }
  if (e.key === "ArrowRight") seek(Math.round(now) + 1);
  if (e.key === "ArrowLeft") seek(Math.round(now) - 1);
});
window.addEventListener("resize", refresh);
const fingers = new Map();
canvas.addEventListener("pointerdown", (e) => { canvas.setPointerCapture(e.pointerId); fingers.set(e.pointerId, [e.clientX, e.clientY]); });
for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, (e) => fingers.delete(e.pointerId));
canvas.addEventListener("pointermove", (e) => {
  const before = fingers.get(e.pointerId);
  if (!before) return;
  const [dx, dy] = [e.clientX - before[0], e.clientY - before[1]];
  fingers.set(e.pointerId, [e.clientX, e.clientY]);
  if (e.buttons & 2 || e.shiftKey || fingers.size > 1) {
    const s = camera.distance / 900, c = Math.cos(camera.turn), n = Math.sin(camera.turn);
    camera.target[0] += s * (n * dx - c * dy * Math.sin(camera.lift));
    camera.target[1] += s * (-c * dx - n * dy * Math.sin(camera.lift));
    camera.target[2] += s * dy * Math.cos(camera.lift);
  } else {
    camera.turn -= dx / 200;
    camera.lift = Math.min(Math.max(camera.lift + dy / 200, -1.5), 1.5);
  }
  refresh();
});
canvas.addEventListener("contextmenu", (e) => e.preventDefault());
canvas.addEventListener("wheel", (e) => { e.preventDefault(); camera.distance *= Math.exp(e.deltaY / 800); refresh(); }, { passive: false });
for (const group of [...data.groups, ...data.forces.map((f) => f.group)]) {
  const label = document.createElement("label"), box = document.createElement("input");
  box.type = "checkbox"; box.checked = !hidden.has(group);
  box.addEventListener("change", () => { box.checked ? hidden.delete(group) : hidden.add(group); refresh(); });
  label.append(group + " ", box);
  byId("groups").append(label, document.createElement("br"));
}
if (gl) build();
window.player = { frames, places, seek, play, placesAt, things, forces, forcesAt, hidden, refresh, get now() { return now; } };
// A page can be opened at a time, or playing: page.html#t=1.5, page.html#play
const opened = new URLSearchParams(location.hash.slice(1));
if (opened.has("t")) seek((Number(opened.get("t")) - time[0]) * rate);
if (opened.has("play")) play(true);
show();
