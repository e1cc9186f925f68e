import assert from 'node:assert/strict';
import { symlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { addMapping, forgetMappings, readMappings } from '../../../../src/core/findings/location/mappings.ts';
import { triagePathsOf } from '../../../../src/core/findings/triage/triageFiles.ts';
import { pathKey, realPathSync } from '../../../../src/core/paths.ts';
import { readSource } from '../../../../src/core/upload/sourceFile.ts';
import { respelled } from '../../core/respelled.ts';
import { finding, setUpFindings, verdictsOf } from '../findingFixture.ts';
import { locatorIn } from './locating.ts';
import { scratchFolder } from '../scratchFolder.ts';
import { withLinks } from '../../core/systemSkips.ts';

const code = 'import db;\n\nrun(query);\n';

/**
 * On Windows, the second spelling differs from the first; elsewhere, the tests show the same for
 * one spelling.
 */
describe('F176 a folder is one, however it is spelled', () => {
  test('a later run of it replaces the earlier one, is compared with it, and keeps decisions', async (t) => {
    const fixture = await setUpFindings(t, 'Shop', respelled('Shop'));
    const { store } = fixture;
    const text = finding('found', { file: 'src.js', line: 3 });
    await fixture.addRun(['Shop'], text, { 'src.js': code });
    await store.setTriage(store.all(), 'falsePositive', 'invented');
    const later = await fixture.addRun([respelled('Shop')], text, { 'src.js': code });
    const [{ run, shown } = {}, ...others] = store.shownRuns();
    assert.deepEqual([run?.id, others, shown?.length], [later.id, [], 1]);
    assert.equal(shown?.[0]?.triage.note, 'invented');
    assert.deepEqual(await verdictsOf(fixture, later), { found: 'stillPresent' });
  });

  test('edits of its files move findings', async (t) => {
    const fixture = await setUpFindings(t, 'Shop');
    await fixture.addRun(['Shop'], finding('found', { file: 'src.js', line: 3 }), { 'src.js': code });
    await fixture.edit(respelled(join(fixture.root, 'Shop', 'src.js')), `// one\n${code}`);
    assert.equal(fixture.store.all()[0]?.locations[0]?.startLine, 4);
  });

  test('its decisions are in one file, and its path mappings are found', async (t) => {
    const root = await scratchFolder(t, ['packages/shop/a.js']);
    const [here, there] = [root, respelled(root)].map((each) => triagePathsOf(each, '/storage', false));
    assert.deepEqual(here, there);
    let stored: unknown;
    const memory = {
      get: () => stored,
      update: (_: string, value: unknown) => Promise.resolve(void (stored = value)),
    };
    await addMapping(memory, root, 'build', respelled(join(root, 'packages')));
    assert.equal(readMappings(memory)[pathKey(respelled(root))]?.length, 1);
    const outside = addMapping(memory, root, 'build', dirname(root));
    await assert.rejects(outside, { kind: 'outsideFolder' });
    await forgetMappings(memory, respelled(root));
    assert.deepEqual(readMappings(memory), {});
  });

  test('a file of it is read for the check for secrets', async (t) => {
    const root = await scratchFolder(t, ['shop.blackbox.json']);
    const file = realPathSync(respelled(join(root, 'shop.blackbox.json')));
    const read = await readSource(dirname(file), basename(file), () => Promise.resolve('read'));
    assert.equal(read, 'read');
  });

  test('a reported path is shown in the letter case of the disk', async (t) => {
    const root = await scratchFolder(t, ['src/App.ts']);
    assert.equal(await locatorIn(respelled(root))(respelled('src/App.ts')), 'src/App.ts');
  });
});

test(
  'a folder that was opened through a link has the files that are reported at its real path',
  withLinks,
  async (t) => {
    const root = await scratchFolder(t, ['src/a.ts']);
    const link = join(dirname(root), 'link');
    await symlink(root, link);
    const locate = locatorIn(link, { reported: [] });
    assert.equal(await locate(join(root, 'src/a.ts')), 'src/a.ts');
    assert.equal(await locate(join(link, 'src/a.ts')), 'src/a.ts');
    assert.equal(await locate(join(dirname(root), 'other/a.ts')), '(none)');
  },
);
