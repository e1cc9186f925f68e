import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { pausesWhile } from './cpuTime.ts';

/** Work on a hostile or huge input, with assertions. */
export interface Work {
  /** Creates the input, which is not measured, and returns the measured function. */
  readonly prepare: (after: (cleanUp: () => unknown) => void) => Promise<() => unknown> | (() => unknown);
  /** Longest block of the event loop; 200 ms unless a person types meanwhile. */
  readonly maxMs?: number;
}

const childVariable = 'BLOCKED_LOOP_TEST';
/** Machines differ, and real blocks exceed the bound many times. */
const slack = 10;
/** For a child that never ends. */
const maxChildMs = 60_000;

/** Declares tests that the event loop is never blocked longer than ten times the bound. Each runs in a child process that loads `file`, the calling test file. */
export async function testBlocks(file: string, works: Readonly<Record<string, Work>>): Promise<void> {
  const wanted = works[process.env[childVariable] ?? ''];
  if (wanted !== undefined) {
    await measure(wanted);
    return;
  }
  for (const [name, { maxMs = 200 }] of Object.entries(works))
    test(name, () => {
      const longestMs = longestBlockMs(file, name);
      assert.ok(longestMs <= slack * maxMs, `blocked for ${longestMs} ms, at most ${maxMs} are wanted`);
    });
}

/** Runs one work of a test file in a child process; returns the longest block of its event loop. */
export function longestBlockMs(file: string, name: string): number {
  const env: NodeJS.ProcessEnv = { ...process.env, [childVariable]: name };
  // With this variable the child would report to our test runner.
  delete env['NODE_TEST_CONTEXT'];
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, [file], {
    env,
    encoding: 'utf8',
    timeout: maxChildMs,
    killSignal: 'SIGKILL',
  });
  assert.equal(status, 0, `${signal ?? ''} ${stderr}`);
  const longest = /^longest block: (\d+)$/m.exec(stdout)?.[1];
  assert.ok(longest !== undefined, `${file} has no work named ${name}`);
  return Number(longest);
}

async function measure({ prepare }: Work): Promise<void> {
  const cleanUps: (() => unknown)[] = [];
  const work = await prepare((cleanUp) => void cleanUps.push(cleanUp));
  const { pausesMs } = await pausesWhile(() => Promise.resolve(work()));
  for (const cleanUp of cleanUps.reverse()) await cleanUp();
  console.log(`longest block: ${Math.ceil(pausesMs.at(-1) ?? 0)}`);
}
