import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { startKept } from '../../host/keptProcess.ts';
import { eventually } from '../core/eventually.ts';

/** Prints the process IDs of itself and a grandchild, and keeps both running. */
const family = `
  const { spawn } = require('node:child_process');
  const stay = 'setInterval(() => undefined, 1000)';
  const child = spawn(process.execPath, ['-e', stay], { stdio: ['ignore', 'inherit', 'inherit'] });
  console.log(process.pid + ' ' + child.pid);
  setInterval(() => undefined, 1000);
`;

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

const goneAll = (pids: readonly number[]): Promise<void> =>
  eventually(() => !pids.some(isRunning), 'every process is gone');

test('stopping a kept process ends its descendants', async () => {
  const kept = startKept(process.execPath, ['-e', family], process.env);
  const [line] = (await once(createInterface({ input: kept.stdout }), 'line')) as [string];
  const pids = line.split(' ').map(Number);
  assert.deepEqual(pids.map(isRunning), [true, true]);
  await kept.stop();
  await goneAll(pids);
});

test('a kept process and its descendants end when the parent is killed', async () => {
  const module = import.meta.resolve('../../host/keptProcess.ts');
  const script = `
    import { startKept } from ${JSON.stringify(module)};
    startKept(process.execPath, ['-e', ${JSON.stringify(family)}], process.env).stdout.pipe(process.stdout);
  `;
  const owner = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface({ input: owner.stdout }), 'line')) as [string];
  const pids = line.split(' ').map(Number);
  assert.deepEqual(pids.map(isRunning), [true, true]);
  owner.kill('SIGKILL');
  await goneAll(pids);
});
