import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { planMapping } from '../../../../src/core/findings/place/mappings.ts';
import { type FindingFixture, setUpFindings } from '../findingFixture.ts';

const text = 'one\ntwo\n';

/** A run of two folders with the same file and findings at these paths. */
async function runOfTwo(t: TestContext, paths: readonly string[], isSent: boolean): Promise<FindingFixture> {
  const fixture = await setUpFindings(t);
  for (const name of ['app', 'web']) {
    const folder = path.join(fixture.root, name);
    fixture.open.add(folder);
    await mkdir(path.join(folder, 'src'), { recursive: true });
    await writeFile(path.join(folder, 'src', 'index.ts'), text);
  }
  const findings = paths.map((file) => ({ title: file, file, line: 1 }));
  await fixture.addRun(
    ['app', 'web'],
    JSON.stringify(findings),
    isSent ? { 'src/index.ts': text } : undefined,
  );
  return fixture;
}

/** The folder of each finding's place, by its title. */
function foldersOf({ store }: FindingFixture): Record<string, string | undefined> {
  return Object.fromEntries(
    store.all().map(({ finding, places: [place] }) => [finding.title, place && path.basename(place.folder)]),
  );
}

for (const isSent of [true, false]) {
  const known = isSent ? 'known' : 'not known';
  test(`F73 with sent files ${known}, the first segment of a path selects one of two folders`, async (t) => {
    const paths = ['web/src/index.ts', '1/src/index.ts', '0/src/index.ts', 'src/index.ts'];
    assert.deepEqual(foldersOf(await runOfTwo(t, paths, isSent)), {
      'web/src/index.ts': 'web',
      '1/src/index.ts': 'web',
      '0/src/index.ts': 'app',
      'src/index.ts': undefined,
    });
  });

  test(`with sent files ${known}, a mapping places files that several folders have`, async (t) => {
    const fixture = await runOfTwo(t, ['build/src/index.ts'], isSent);
    assert.deepEqual(foldersOf(fixture), { 'build/src/index.ts': undefined });
    const root = path.join(fixture.root, 'web');
    const plan = await planMapping(['build/src/index.ts'], { root, to: '' });
    assert.equal(plan?.placed, 1);
    await fixture.store.mapPaths(root, plan.prefix, root);
    assert.deepEqual(foldersOf(fixture), { 'build/src/index.ts': 'web' });
  });
}
