import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, it } from 'mocha';
import { type ShownMessage, watchMessages } from '../../dialogs.ts';
import { folder } from '../../openFolders.ts';
import { call, signInEachTest } from '../../signedIn.ts';

describe('files that Git tracks although they are ignored', () => {
  const service = signInEachTest();

  const git = (...args: string[]): void => {
    const { status, stderr } = spawnSync('git', args, { cwd: folder, encoding: 'utf8' });
    assert.equal(status, 0, stderr);
  };

  before(async () => {
    await mkdir(path.join(folder, 'dist'));
    await writeFile(path.join(folder, '.gitignore'), 'dist/\n');
    await writeFile(path.join(folder, 'dist', 'app.js'), 'tracked();\n');
    await writeFile(path.join(folder, 'dist', 'key.js'), `const key = 'ghp_${'a1B2'.repeat(9)}';\n`);
    await writeFile(path.join(folder, 'dist', 'built.js'), 'untracked();\n');
    git('init', '-q');
    git('add', '-f', 'dist/app.js', 'dist/key.js');
  });

  after(async () => {
    for (const name of ['.git', '.gitignore', 'dist'])
      await rm(path.join(folder, name), { recursive: true, force: true });
  });

  const ask = async (...given: (string | undefined)[]): Promise<readonly ShownMessage[]> => {
    // A notice of another test may come at the same time.
    const { shown } = watchMessages(({ isModal }) => (isModal ? given.shift() : undefined));
    await call('startAssessment');
    assert.deepEqual(service().requests, []);
    return shown.filter(({ isModal }) => isModal);
  };

  it('F5 F167 are named in the confirmation; including them asks about secrets and confirms again', async () => {
    const [first, names, again, , secrets, last, ...others] = await ask(
      ...['Include…', 'Back', 'Include…', 'Include All', 'Exclude These Files', undefined],
    );
    assert.deepEqual(others, []);
    assert.match(
      first?.detail ?? '',
      /Tracked by Git, but ignored: 2 files\. Excluded unless you choose “Include…”\./,
    );
    assert.match(first?.detail ?? '', /; ignored although tracked by Git, and excluded: 2\n/);
    assert.deepEqual(first?.buttons, ['Upload and Start', 'Show Files', 'Include…']);
    assert.equal(names?.text, 'Include 2 files tracked by Git, but ignored?');
    assert.match(names.detail, /^dist\/app\.js\ndist\/key\.js\n\n/);
    assert.deepEqual(names.buttons, ['Include All', 'Back']);
    assert.deepEqual(again, first);
    assert.equal(secrets?.text, 'Suspected secrets in 1 file');
    assert.match(secrets.detail, /dist\/key\.js:1/);
    assert.deepEqual(last?.buttons, ['Upload and Start', 'Show Files']);
    const count = ({ text }: ShownMessage): number => Number(/\d+/.exec(text)?.[0]);
    assert.equal(count(last) - count(first), 1);
    assert.doesNotMatch(last.detail, /tracked by Git/i);
  });

  it('F5 remain included by name in the next start', async () => {
    const [question] = await ask(undefined);
    assert.deepEqual(question?.buttons, ['Upload and Start', 'Show Files']);
  });
});
