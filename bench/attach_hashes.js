// SPDX-License-Identifier: MIT
// Hashes in the event loop and in the pool of threads, and checks that the result stays the same
// (attach_campaign.py). Prints "ready", runs until the standard input is closed, and prints "ok".
const crypto = require('crypto');
let first = null;
let wrong = 0;

function run() {
  let value = 'x';
  for (let i = 0; i < 500; i++)
    value = crypto.createHash('sha256').update(value).digest('hex');
  first = first || value;
  if (value !== first)
    wrong++;
  crypto.pbkdf2('password', 'salt', 1000, 32, 'sha512', (error) => {
    if (error)
      wrong++;
  });
}

const timer = setInterval(run, 5);
process.stdin.on('end', () => {
  clearInterval(timer);
  console.log(wrong ? 'wrong' : 'ok');
});
process.stdin.resume();
console.log('ready');
