import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { pausesWhile } from './cpuTime.ts';

/** The work reads a hostile or huge input, and has assertions. */
export interface Work {
  /** Creates the input, which is not measured, and returns the measured function. */
  readonly prepare: (after: (cleanUp: () => unknown) => void) => Promise<() => unknown> | (() => unknown);
  /** The event loop may be blocked this long: 200 ms, unless a user types meanwhile. */
  readonly maxMs?: number;
}

const childVariable = 'BLOCKED_LOOP_TEST';
/** Machines differ, and real blocks exceed the bound many times. */
const slack = 10;
/** A child that never ends is stopped after this. */
const maxChildMs = 10 * 60_000;

/**
 * Declares tests that the event loop is never blocked longer than ten times the bound. Each runs in
 * a child process that loads `file`, the calling test file.
 */
export async function testBlocks(file: string, works: Readonly<Record<string, Work>>): Promise<void> {
  const wanted = process.env[childVariable];
  const limits = Object.entries(works).map(([name, { maxMs = 200 }]) => [name, maxMs] as const);
  if (wanted !== undefined) {
    const work = works[wanted];
    console.log(work === undefined ? JSON.stringify(Object.fromEntries(limits)) : await measure(work));
    return;
  }
  for (const [name, maxMs] of limits)
    test(name, () => {
      const longestMs = longestBlockMs(file, name);
      assert.ok(longestMs <= slack * maxMs, `blocked for ${longestMs} ms, at most ${maxMs} are wanted`);
    });
}

/** Runs one work of a test file in a child process; returns the longest block of its event loop. */
export function longestBlockMs(file: string, name: string): number {
  return Number(runChild(file, name));
}

/** Each work of the test file has its bound in milliseconds. */
export function worksIn(file: string): Record<string, number> {
  return JSON.parse(runChild(file, '')) as Record<string, number>;
}

/** Loads a test file in a child process; returns its last line of output. */
function runChild(file: string, name: string): string {
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
  return stdout.trim().split('\n').at(-1) ?? '';
}

async function measure({ prepare }: Work): Promise<number> {
  const cleanUps: (() => unknown)[] = [];
  const work = await prepare((cleanUp) => void cleanUps.push(cleanUp));
  const { pausesMs } = await pausesWhile(() => Promise.resolve(work()));
  for (const cleanUp of cleanUps.reverse()) await cleanUp();
  return Math.ceil(pausesMs.at(-1) ?? 0);
}
