import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { findOwners, ownersOf, parseOwners } from '../../../../src/core/findings/location/owners.ts';
import { finding, setUpFindings } from '../findingFixture.ts';
import { cpuMs } from '../../core/cpuTime.ts';
import { scratchFolder } from '../scratchFolder.ts';

/** GitHub's documentation on code owners has this example. Its comments are omitted. */
const documented = String.raw`
*       @global-owner1 @global-owner2
*.js    @js-owner #This is an inline comment.
*.go docs@example.com
*.txt @octo-org/octocats
/build/logs/ @doctocat
docs/* docs@example.com
apps/ @octocat
/docs/ @doctocat
/scripts/ @doctocat @octocat
**/logs @octocat
/apps/ @octocat
/apps/github
/apps/github/deep @doctocat
`;

/** A path has these owners by GitHub's documentation. */
const cases: readonly (readonly [rules: string, path: string, owners: string])[] = [
  [documented, 'README.md', '@global-owner1 @global-owner2'],
  [documented, 'src/deep/a.js', '@js-owner'],
  [documented, 'docs/a.js', '@doctocat'],
  [documented, 'scripts/a.sh', '@doctocat @octocat'],
  [documented, 'build/logs/a.js', '@octocat'],
  [documented, 'deeply/nested/logs/x/a.js', '@octocat'],
  [documented, 'src/apps/a.js', '@octocat'],
  [documented, 'apps/github/a.js', ''],
  [documented, 'apps/github/deep/a.js', '@doctocat'],
  ['docs/* @a', 'docs/build-app/troubleshooting.md', ''],
  ['docs/* @a', 'src/docs/a.md', ''],
  ['docs/** @a', 'docs/build-app/troubleshooting.md', '@a'],
  ['docs/** @a', 'docs', ''],
  ['/* @a', 'a.js', '@a'],
  ['/* @a', 'src/a.js', ''],
  ['/src/**/test @a', 'src/x/y/test/a.js', '@a'],
  ['/src/*/test @a', 'src/x/y/test/a.js', ''],
  ['src @a', 'lib/src/a.js', '@a'],
  ['src/ @a', 'src', ''],
  ['*.JS @a', 'a.js', ''],
  ['with\\ space/ @a', 'with space/a.js', '@a'],
  ['注文/ @a', 'src/注文/a.js', '@a'],
  ['a?.js @a', 'ab.js', '@a'],
  ['* @a\r\n*.js @b\r\n', 'x.js', '@b'],
  ['\uFEFF* @a', 'x.js', '@a'],
  ['* @a\n* #nobody', 'x.js', ''],
  ['app/[id]/ @a', 'app/[id]/page.js', '@a'],
  ['app/[id]/ @a', 'app/i/page.js', ''],
  ['app/\\[id]/*.js @a', 'app/[id]/page.js', '@a'],
  ['foo/**/ @a', 'foo/x.js', '@a'],
  ['foo/**/ @a', 'foo', ''],
  ['foo/**/ @a', 'src/foo/x.js', ''],
];

/** GitLab's documentation has these examples. Their comments are omitted. */
const sections = `
* @admin
[README Owners]
README.md @user1 @user2
internal/README.md @user4
[README other owners]
README.md @user3
`;
const defaults = `
* @general-approvers
[Documentation][2] @docs-team
docs/
README.md
*.txt
^[Database] @database-team @agarcia
model/db/
config/db/database-setup.md @docs-team
[DOCUMENTATION]
terms.md @legal
`;
const exclusions = `
* @username
!pom.xml
[Ruby]
*.rb @ruby-team
!/config/**/*.rb
/config/routes.rb @ops
`;

/** A path has these owners by GitLab's documentation. */
const gitLabCases: readonly (readonly [rules: string, path: string, owners: string])[] = [
  [sections, 'README.md', '@admin @user1 @user2 @user3'],
  [sections, 'src/internal/README.md', '@admin @user4 @user3'],
  [defaults, 'model/db/CHANGELOG.txt', '@general-approvers @docs-team @database-team @agarcia'],
  [defaults, 'config/db/database-setup.md', '@general-approvers @docs-team'],
  [defaults, 'terms.md', '@general-approvers @legal'],
  [exclusions, 'pom.xml', ''],
  [exclusions, 'config/routes.rb', '@username'],
  ['/docs/* @a', 'docs/api/x.md', ''],
  ['docs/ @a', 'src/docs/x.md', '@a'],
  ['/docs/**/index.md @a', 'docs/index.md', '@a'],
  ['lib @a', 'lib/x.js', ''],
  ['\\#odd.rb @a', '#odd.rb', '@a'],
  ['a#b.rb @a', 'a#b.rb', '@a'],
  ['[id]/page.js @a', 'app/[id]/page.js', '@a'],
  [
    'a.js @group/with-nested/subgroup @@maintainer bad a@b.example # @also',
    'a.js',
    '@group/with-nested/subgroup @@maintainer a@b.example @also',
  ],
  ['* @group\n[Section name\ndocs/ @docs', 'docs/x', '@docs'],
  ['[Docs] @docs\na.md bad', 'a.md', ''],
];

describe('CODEOWNERS', () => {
  test('F160 gives every file the owners that the host documents: the last match wins, sections add up', () => {
    for (const [format, all] of [
      ['github', cases],
      ['gitlab', gitLabCases],
    ] as const)
      for (const [rules, path, owners] of all) {
        const found = ownersOf(path, parseOwners(rules, format).sections).join(' ');
        assert.equal(found, owners, `${path} by ${rules}`);
      }
  });

  test('F160 is read as GitLab reads it by the remote, else by folder, headings or pipeline', async (t) => {
    const sectioned = '* @all\n[Web][2] @web\n*.js';
    const pipeline = { '.gitlab-ci.yml': '' };
    for (const [host, files, owners] of [
      ['code.example.com', { '.gitlab/CODEOWNERS': sectioned }, '@all @web'],
      ['code.example.com', { '.gitlab/CODEOWNERS': sectioned, '.github/CODEOWNERS': '* @github' }, '@github'],
      ['code.example.com', { CODEOWNERS: sectioned }, '@all @web'],
      ['code.example.com', { CODEOWNERS: '* @all\r\n^[Web]\r\n*.js @web\r\n' }, '@all @web'],
      ['code.example.com', { CODEOWNERS: '* @all\n[Web server] @web\n*.js' }, '@all @web'],
      ['code.example.com', { CODEOWNERS: '* @all\napp/[id]/ @b\n[id]/a.js @b' }, '@all'],
      ['code.example.com', { '.github/CODEOWNERS': sectioned }, ''],
      ['code.example.com', { '.github/CODEOWNERS': sectioned, ...pipeline }, '@all @web'],
      ['code.example.com', { CODEOWNERS: sectioned, ...pipeline }, '@all @web'],
      [
        'code.example.com',
        { 'docs/CODEOWNERS': sectioned, '.github/CODEOWNERS': '', ...pipeline },
        '@all @web',
      ],
      ['gitlab.example.com', { CODEOWNERS: sectioned }, '@all @web'],
      ['github.com', { CODEOWNERS: sectioned, ...pipeline }, ''],
    ] as const) {
      const root = await scratchFolder(t, []);
      await layOut(root, files);
      execFileSync('git', ['-C', root, 'remote', 'add', 'origin', `git@${host}:shop/web.git`]);
      const { owners: found } = await findOwners(new Set([join(root, 'a.js')]));
      const named = [...found.values()].join('').replaceAll(',', ' ');
      assert.equal(named, owners, JSON.stringify([host, files]));
    }
  });

  test('F182 a heading made to be slow is read in time', () => {
    const before = cpuMs();
    parseOwners(`[a]${' '.repeat(60_000)}x\u2028y`, 'gitlab');
    assert.ok(cpuMs() - before < 1_000);
  });

  test('F160 names the lines that the host does not understand, and uses the others', () => {
    const many = Array.from({ length: 101 }, (_, at) => `@a${String(at)}`).join(' ');
    for (const [format, lines, skipped] of [
      [
        'github',
        [
          '* @a',
          ...['!*.js @b', '\\#x @b', '*.js b', '*.js @b`', `*.js ${many}`],
          ...['*.js b\u001b[2J@example.com', '*.js b\u202e@example.com'],
          ...['[ab].js @b', 'x** @b', '# @b'],
        ],
        [2, 3, 4, 5, 6, 7, 8],
      ],
      [
        'gitlab',
        [
          ...['* @a bad', '[Docs] @docs team', '[Section name', '* @a # a comment'],
          ...['[id]/x.js @a', '[Web][2] @web', '!b.js', 'c.js'],
        ],
        [1, 2, 3],
      ],
    ] as const) {
      const read = parseOwners(lines.join('\n'), format);
      assert.deepEqual(read.skipped, skipped);
      assert.deepEqual(ownersOf('a.js', read.sections), ['@a']);
    }
  });

  test('F160 is read from .github, root or docs, in this order, and not above 3 MB, with a message', async (t) => {
    const root = await scratchFolder(t, []);
    const file = join(root, 'src', 'a.js');
    const owners = async (): Promise<unknown> => (await findOwners(new Set([file]))).owners.get(file);
    await layOut(root, { 'docs/CODEOWNERS': '* @docs' });
    assert.deepEqual(await owners(), ['@docs']);
    await layOut(root, { CODEOWNERS: '* @root' });
    assert.deepEqual(await owners(), ['@root']);
    await layOut(root, { '.github/CODEOWNERS': '* @github' });
    assert.deepEqual(await owners(), ['@github']);
    await layOut(root, { '.github/CODEOWNERS': '#'.repeat(3 * 1024 * 1024 + 1) });
    assert.equal(await owners(), 'unknown');
    const { ownersGaps: gaps } = await findOwners(new Set([file]));
    assert.deepEqual(gaps, [{ file: join(root, '.github', 'CODEOWNERS'), lines: 'unreadable' }]);
  });

  test('F160 hides no owners of other repositories where the settings of one cannot be read', async (t) => {
    const [broken, whole] = [await scratchFolder(t, []), await scratchFolder(t, [])];
    for (const root of [broken, whole])
      await layOut(root, { CODEOWNERS: '* @a', '.git/HEAD': 'ref: refs/heads/main\n', '.git/config': '' });
    await layOut(broken, { '.git/config': '#'.repeat(2 << 20) });
    const { owners, isPartial } = await findOwners(new Set([join(broken, 'a.js'), join(whole, 'a.js')]));
    assert.deepEqual([...owners.values(), isPartial], ['unknown', ['@a'], true]);
  });

  test('F160 gives a finding the owners of its main location, by the current file', async (t) => {
    const fixture = await setUpFindings(t, 'shop');
    const root = join(fixture.root, 'shop');
    await layOut(root, { CODEOWNERS: 'a.js @ana\n![x] @b' });
    await fixture.addRun(['shop'], finding('SQL'));
    const file = join(root, 'CODEOWNERS');
    const seen = () => [fixture.store.all()[0]?.owners, fixture.store.shownRuns()[0]?.ownersGaps];
    assert.deepEqual(seen(), [['@ana'], [{ file, lines: [2] }]]);
    await writeFile(file, 'a.js @ben');
    await fixture.store.locateAgain(new Set([file]));
    assert.deepEqual(seen(), [['@ben'], []]);
  });
});

async function layOut(root: string, files: Readonly<Record<string, string>>): Promise<void> {
  await mkdir(root, { recursive: true });
  execFileSync('git', ['init', '-q', root]);
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), text);
  }
}
