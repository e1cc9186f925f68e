import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { test } from '@playwright/test';
import { installedVariable } from '../e2e/stage.ts';

const program = path.join(import.meta.dirname, 'main.ts');

async function startDemo(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const temporary = await mkdtemp(path.join(tmpdir(), 'demo-'));
  const demo = spawn(process.execPath, [program, ...args], {
    env: { ...process.env, TMPDIR: temporary, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said: string[] = [];
  for (const stream of [demo.stdout, demo.stderr])
    createInterface({ input: stream }).on('line', (line) => said.push(line));
  return { demo, said, temporary, ended: once(demo, 'close') as Promise<[number | null]> };
}

/** Whether a process with this text in its command line is running; Linux only. */
async function isNamedByProcess(text: string): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/u.test(name));
  const lines = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
  );
  return lines.some((line) => line.includes(text));
}

test('the demo prints the address of a running VS Code, and Ctrl+C leaves no process or file behind', async () => {
  const { demo, said, temporary, ended } = await startDemo([]);
  const printed = new Promise<string>((resolve) => {
    createInterface({ input: demo.stdout }).on('line', (line) => {
      const address = /^Open {2}(http:\/\/127\.0\.0\.1:\S+)$/u.exec(line)?.[1];
      if (address !== undefined) resolve(address);
    });
  });
  const address = await Promise.race([printed, ended.then(() => assert.fail(said.join('\n')))]);
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
  const empty = path.join(out, 'nothing-installed');
  await mkdir(empty);
  const args = ['--headless', '--out', path.join(out, 'demo')];
  const { said, temporary, ended } = await startDemo(args, { [installedVariable]: empty });
  assert.deepEqual(await ended, [1, null]);
  assert.deepEqual(said.slice(0, 2), [
    '✔ Start the assessment service and VS Code',
    '✔ Open VS Code on the sample workspace, with the extension installed',
  ]);
  assert.match(said[2] ?? '', /^✖ Sign in to http:\/\/127\.0\.0\.1/);
  assert.match(
    said[3] ?? '',
    /^The demo stopped in this step \(\S.*\); what VS Code showed then is in .*failed\.png\.$/,
  );
  assert.equal(said.length, 4);
  assert.ok(existsSync(path.join(out, 'demo', 'failed.png')));
  assert.deepEqual(await readdir(temporary), []);
  for (const folder of [out, temporary]) await rm(folder, { recursive: true });
});
