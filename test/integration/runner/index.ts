// Runs in the extension host: VS Code loads this bundle (see bundle.ts) and calls run().
import path from 'node:path';
import Mocha from 'mocha';
import * as vscode from 'vscode';
import { grepVariable, report } from '../events.ts';
import { loadTests } from 'integration-tests';

export async function run(): Promise<void> {
  try {
    const mocha = new Mocha({ ui: 'bdd', timeout: 150_000, retries: 1, reporter: Mocha.reporters.Base });
    const grep = process.env[grepVariable];
    if (grep !== undefined) mocha.fgrep(grep);
    process.setUncaughtExceptionCaptureCallback((error) => {
      if (isOfOtherExtension(error)) report({ kind: 'uncaught', error: describeError(error) });
      else for (const take of process.listeners('uncaughtException')) take(error, 'uncaughtException');
    });
    loadTests((file) => mocha.suite.emit('pre-require', globalThis, file, mocha));
    const retried = new Set<string>();
    await new Promise<void>((resolve) => {
      const runner = mocha.run(() => resolve());
      runner.on('pass', (test) => {
        if (retried.has(test.fullTitle())) report({ kind: 'passedAgain', title: test.fullTitle() });
        report({ kind: 'passed', title: test.fullTitle(), name: test.title, ms: test.duration ?? 0 });
      });
      runner.on('fail', (test, error: Error) =>
        report({
          kind: 'failed',
          title: test.fullTitle(),
          ms: test.duration ?? 0,
          error: describeError(error),
        }),
      );
      runner.on('retry', (test: Mocha.Test, error: Error) => {
        retried.add(test.fullTitle());
        report({ kind: 'retried', title: test.fullTitle(), error: describeError(error) });
      });
      let startedAt = performance.now();
      runner.on('suite end', ({ file, parent }) => {
        if (parent?.root !== true) return;
        report({ kind: 'file', file: file ?? '', ms: performance.now() - startedAt });
        startedAt = performance.now();
      });
      runner.on('pending', (test) =>
        report({
          kind: 'skipped',
          title: test.fullTitle(),
          name: test.title,
          reason: reasonOf(test) ?? reasonOf(test.parent) ?? 'no reason given',
        }),
      );
    });
    report({ kind: 'end' });
  } catch (error) {
    report({ kind: 'failed', title: 'the integration tests load', ms: 0, error: describeError(error) });
    report({ kind: 'end' });
  }
}

/**
 * An error of another extension fails no test. For example, VS Code's Git extension writes to a Git
 * process that has ended because a test removed its repository.
 */
function isOfOtherExtension({ stack = '' }: Error): boolean {
  return (
    stack.includes(path.join(vscode.env.appRoot, 'extensions')) &&
    !stack.includes(path.resolve(__dirname, '../..'))
  );
}

/** `skipBecause` has noted the reason. */
function reasonOf(skipped: object | undefined): string | undefined {
  return skipped !== undefined && 'reason' in skipped ? String(skipped.reason) : undefined;
}

function describeError(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
