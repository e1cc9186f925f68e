import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { Emitter } from '../../../src/core/ports.ts';
import { FolderCalls } from '../../../src/core/yieldingWork.ts';
import { silent } from '../../silentLog.ts';
import { focusWindow, otherExtensions } from './openedWindow.ts';

const { BranchComparison } = await import('../../../src/editor/findings/changedOnBranch.ts');

type Deps = ConstructorParameters<typeof BranchComparison>[0];
type Branch = Parameters<Deps['filtering']['useBranch']>[0];

test('F202 the base of a branch that Git does not tell is unknown, and the next load and focus ask again', async (t) => {
  const noEvent = () => ({ dispose: () => undefined });
  const asked: string[] = [];
  let isSilent = true;
  const repository = {
    rootUri: { fsPath: tmpdir() },
    state: { HEAD: { name: 'topic' }, onDidChange: noEvent },
    getMergeBase: (_: string, name: string) => {
      asked.push(name);
      return isSilent ? Promise.reject(new Error('timed out')) : Promise.resolve('a'.repeat(40));
    },
    diffWith: () => Promise.resolve([]),
  };
  const git = {
    state: 'initialized',
    onDidChangeState: noEvent,
    onDidOpenRepository: noEvent,
    onDidCloseRepository: noEvent,
    getRepository: () => repository,
  };
  otherExtensions.set('vscode.git', { enabled: true, getAPI: () => git });
  t.after(() => otherExtensions.clear());

  const loaded = new Emitter<void>(silent);
  const compared = new Emitter<Branch>(silent);
  const locations = [{ file: '/shop/a.js', folder: '/shop', path: 'a.js' }];
  const findings = { all: () => [{ locations }], absent: () => [], onDidChange: loaded.event };
  const filter = { changedOnBranch: true };
  const filtering = { filter, onDidChange: noEvent, useBranch: (branch: Branch) => compared.fire(branch) };
  const memory = { get: () => undefined };
  const deps = { findings, filtering, memory, calls: new FolderCalls(silent), log: silent };
  const next = (): Promise<Branch> =>
    new Promise((resolve) => {
      const subscription = compared.event((branch) => {
        subscription.dispose();
        resolve(branch);
      });
    });

  const first = next();
  const comparison = new BranchComparison(deps as unknown as Deps);
  t.after(() => comparison.dispose());
  const unknown = { kind: 'unavailable', why: 'noAnswer' };
  assert.deepEqual(await first, unknown);
  const second = next();
  loaded.fire();
  assert.deepEqual(await second, unknown);
  isSilent = false;
  const third = next();
  focusWindow();
  const found = await third;
  assert.equal(found.kind === 'known' && found.base, 'origin/HEAD (aaaaaaaaaa)');
  assert.deepEqual(asked, ['origin/HEAD', 'origin/HEAD', 'origin/HEAD']);
});
