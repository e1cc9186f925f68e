import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { pausesWhile } from './cpuTime.ts';

/** What an editor's thread does with an input that is hostile or huge; asserts what comes of it. */
export interface Work {
  /** Makes the input, which does not count, and gives what is then done with it. */
  readonly prepare: (after: (cleanUp: () => unknown) => void) => Promise<() => unknown> | (() => unknown);
  /** Longest block of the event loop; 200 ms unless a person types meanwhile. */
  readonly maxMs?: number;
}

const childVariable = 'BLOCKED_LOOP_TEST';
/** Machines differ, and what blocks does so for many times the bound. */
const slack = 10;
/** For a child that never ends. */
const maxChildMs = 60_000;

/** Declares tests that the event loop is never blocked longer than ten times the bound. Each runs its work in a process of its own, which loads `file`, the test file that calls this. */
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

/** Does one work of a test file in a process of its own; gives the longest block of its event loop. */
export function longestBlockMs(file: string, name: string): number {
  const env: NodeJS.ProcessEnv = { ...process.env, [childVariable]: name };
  // With it, the child would report to this test's runner.
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
