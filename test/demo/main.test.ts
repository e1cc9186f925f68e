import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { test } from '@playwright/test';

const program = path.join(import.meta.dirname, 'main.ts');

async function startDemo(...args: readonly string[]) {
  const temporary = await mkdtemp(path.join(tmpdir(), 'demo-'));
  const demo = spawn(process.execPath, [program, ...args], {
    env: { ...process.env, TMPDIR: temporary },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said: string[] = [];
  const saysLine = new EventEmitter<{ line: [string] }>();
  for (const stream of [demo.stdout, demo.stderr])
    createInterface({ input: stream }).on('line', (line) => {
      said.push(line);
      saysLine.emit('line', line);
    });
  const ended = once(demo, 'close') as Promise<[number | null]>;
  /** Resolves with the first line that the pattern finds. */
  const says = (pattern: RegExp): Promise<string> =>
    new Promise((resolve, reject) => {
      saysLine.on('line', (line) => pattern.test(line) && resolve(line));
      void ended.then(() => reject(new Error(said.join('\n'))));
    });
  return { demo, said, says, temporary, ended };
}

/** Finds a process with this text in its command line, on Linux only. */
async function isNamedByProcess(text: string): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/u.test(name));
  const lines = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
  );
  return lines.some((line) => line.includes(text));
}

test('the demo prints the address of a running VS Code, and Ctrl+C leaves no process or file behind', async () => {
  const { demo, says, temporary, ended } = await startDemo();
  const address = (await says(/^Open {2}http:\/\/127\.0\.0\.1:\S+$/u)).slice('Open  '.length);
  assert.match(await (await fetch(address)).text(), /workbench/);
  assert.equal(await isNamedByProcess(temporary), process.platform === 'linux');
  demo.kill('SIGINT');
  await ended;
  assert.deepEqual(await readdir(temporary), []);
  assert.equal(await isNamedByProcess(temporary), false);
  await rm(temporary, { recursive: true });
});

test('a failing demo prints one sentence with the step and a screenshot, and exits with 1', async () => {
  const out = await mkdtemp(path.join(tmpdir(), 'pictures-'));
  const { said, says, temporary, ended } = await startDemo('--headless', '--out', path.join(out, 'demo'));
  await says(/^✔ Start the assessment service and VS Code$/u);
  // The first picture would be there.
  await mkdir(path.join(out, 'demo', 'sample.png'), { recursive: true });
  assert.deepEqual(await ended, [1, null]);
  assert.equal(said[1], '✖ Explore the sample findings, without signing in');
  assert.match(
    said[2] ?? '',
    /^The demo stopped in this step \(\S.*\); what VS Code showed then is in .*failed\.png\.$/,
  );
  assert.equal(said.length, 3);
  assert.ok(existsSync(path.join(out, 'demo', 'failed.png')));
  assert.deepEqual(await readdir(temporary), []);
  for (const folder of [out, temporary]) await rm(folder, { recursive: true });
});
