import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { list } from 'tar';
import type { Workbench } from '../host/workbench.ts';
import { eventually } from '../host/workbench/eventually.ts';
import type { TreeRowReading } from '../host/workbench/trees.ts';
import { signedIn } from './stage.ts';
import { test } from './fixtures.ts';

test.describe.configure({ mode: 'serial' });
test.use({ stageOptions: { service: { runDurationMs: 3_600_000 }, settings: signedIn } });

const rows = async (workbench: Workbench): Promise<readonly TreeRowReading[]> => {
  await workbench.expandAll('Upload Preview');
  return workbench.treeRows('Upload Preview');
};
const labels = async (workbench: Workbench): Promise<string[]> =>
  (await rows(workbench)).map(({ label }) => label);

test('the preview lists files with sizes, and excluded files with the rule that excludes them', async ({
  service,
  workbench,
}) => {
  await workbench.runCommand('Whitebox: Preview Files to Upload');
  const shown = await eventually(
    () => rows(workbench),
    (found) => found.some(({ label }) => label === '.env'),
  );
  const by = (label: string) => shown.find((row) => row.label === label);
  assert.match(by('To be uploaded')?.description ?? '', /^14 files, /);
  assert.match(by('src')?.description ?? '', /^\d+ files, /);
  assert.match(by('.env')?.description ?? '', /^\.env +\(.*\.gitignore:\d+\)$/);
  assert.match(by('build/')?.description ?? '', /^build\/ +\(.*\.gitignore:\d+\)$/);
  assert.match(
    await workbench.viewText('Upload Preview'),
    /14 files, .* before compression\. Nothing has been sent\./,
  );
  await workbench.screenshot('preview-1.png');
  assert.equal(service.requests.length, 0);
});

test('the user excludes a file and includes it again', async ({ workbench }) => {
  await workbench.treeRowCheckbox('Upload Preview', 'package.json');
  await eventually(
    () => labels(workbench),
    (found) => found.includes('By your choice'),
  );
  assert.match(
    (await rows(workbench)).find(({ label }) => label === 'To be uploaded')?.description ?? '',
    /^13 files/,
  );
  await workbench.treeRowCheckbox('Upload Preview', 'package.json');
  await eventually(
    () => labels(workbench),
    (found) => !found.includes('By your choice'),
  );
});

test('F5 the user can include an ignored file by name; a rule in the repository cannot', async ({
  stage,
  workbench,
}) => {
  await writeFile(path.join(stage.folder, '.whiteboxignore'), '!.env\n!build/\n');
  await workbench.runCommand('Whitebox: Preview Files to Upload');
  await eventually(
    () => rows(workbench),
    (found) => found.some(({ description }) => description.startsWith('15 files')),
  );
  assert.ok(
    (await rows(workbench)).some(
      ({ label, description }) => label === '.env' && description.includes('.gitignore'),
    ),
  );
  await workbench.treeRowCheckbox('Upload Preview', 'build/');
  await eventually(
    () => rows(workbench),
    (found) => found.some(({ description }) => description.startsWith('16 files')),
  );
  await workbench.screenshot('preview-2-chosen.png');
});

test('Exclude from Upload writes .whiteboxignore and can be undone', async ({ stage, workbench }) => {
  const file = path.join(stage.folder, '.whiteboxignore');
  await workbench.treeRowMenu('Upload Preview', 'README.md', 'Exclude from Upload');
  await workbench.notification('README.md was added to .whiteboxignore and is excluded');
  assert.match(await readFile(file, 'utf8'), /^\/README\.md$/m);
  await workbench.notificationButton('README.md was added', 'Undo');
  await eventually(
    () => readFile(file, 'utf8'),
    (text) => !text.includes('README'),
  );
});

test('the saved archive equals the one that would be sent', async ({ stage, workbench }) => {
  const file = path.join(path.dirname(stage.folder), 'shop.tar.gz');
  await workbench.viewAction('Upload Preview', 'Save Upload Archive to Disk…');
  await workbench.saveAs(file);
  const { message } = await workbench.notification(`Saved ${file}: 16 files`);
  const hash = createHash('sha256')
    .update(await readFile(file))
    .digest('hex');
  assert.ok(message.endsWith(`SHA-256 ${hash}`));
  const names: string[] = [];
  await list({ file, onReadEntry: (entry) => names.push(entry.path) });
  assert.equal(names.length, 16);
  assert.ok(names.includes('docs/設計.md') && !names.includes('.env'));
  await workbench.dismissNotifications();
});

test('F30 suspected secrets are listed masked, and excluded by default', async ({
  service,
  stage,
  workbench,
}) => {
  const secret = ['ghp', '_', 'A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8'].join('');
  await writeFile(path.join(stage.folder, 'src', 'deploy.js'), `export const token = '${secret}';\n`);
  await workbench.runCommand('Whitebox: Start Assessment…');
  const dialog = await workbench.dialogText();
  assert.match(dialog.message, /Suspected secrets in 1 file/);
  assert.match(dialog.detail, /src\/deploy\.js:1 +github token +ghp_/);
  assert.ok(!dialog.detail.includes(secret));
  await workbench.screenshot('preview-3-secret.png');
  await workbench.dialogButton('Exclude These Files');
  const question = await eventually(workbench.dialogText, ({ message }) => message.startsWith('Upload '));
  assert.match(question.message, /Upload 16 files/);
  await workbench.dialogButton('Show Files');
  await eventually(
    () => labels(workbench),
    (found) => found.includes('Suspected secrets'),
  );
  assert.ok((await labels(workbench)).includes('src/deploy.js'));
  assert.equal(service.requests.length, 0);
});

test('a decision about a secret is remembered by content, and changes since the preview are listed', async ({
  service,
  stage,
  workbench,
}) => {
  await writeFile(path.join(stage.folder, 'src', 'late.js'), 'export {};\n');
  await workbench.viewAction('Upload Preview', 'Start Assessment…');
  const dialog = await workbench.dialogText();
  assert.match(dialog.message, /Upload 17 files/);
  assert.match(dialog.detail, /Different from what the Upload Preview shows: 1 file\./);
  await workbench.dialogButton('Upload and Start');
  await eventually(
    () => service.runs(),
    ([run]) => run?.archives.flatMap(({ entries }) => entries).length === 17,
  );
  const sent = service.runs()[0]?.archives.flatMap(({ entries }) => entries.map((entry) => entry.path)) ?? [];
  assert.ok(!sent.includes('src/deploy.js') && !sent.includes('.env'));
  assert.ok(sent.includes('build/bundle.js') && sent.includes('src/late.js'));
});
