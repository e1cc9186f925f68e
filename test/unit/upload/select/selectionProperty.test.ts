import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { selectFiles } from '../../../../src/core/upload/select/selectFiles.ts';
import { gitSelects, makeLocation, options, plant, plantRepository } from '../trees.ts';
import { propertyRuns } from '../../core/propertyRuns.ts';

/**
 * `npm run fuzz` sets FUZZ_RUNS; a failure is replayed with the FUZZ_SEED and FUZZ_PATH that it
 * prints.
 */
const runs = propertyRuns(30);
const replay =
  process.env['FUZZ_SEED'] === undefined
    ? {}
    : { seed: Number(process.env['FUZZ_SEED']), path: process.env['FUZZ_PATH'] ?? '' };

const words = (text: string): fc.Arbitrary<string> => fc.constantFrom(...text.split(' '));
const name = fc.oneof(
  { weight: 7, arbitrary: words('a b ab abc foo foobar A Foo a.b x.log .a é É aé 日本 - #a !a a* [a] a\\b 😀 a] ^ ] [ a5 x^y ,') },
  { weight: 1, arbitrary: fc.constantFrom('x y', 'a ', 'a\r', '\t', 'x\x01') },
); // prettier-ignore
/** There are sets of all kinds, also unfinished ones. */
const set = fc
  .record({
    negation: fc.constantFrom('', '', '!', '^'),
    members: fc.array(
      fc.oneof(
        words('a b z A F - ] [ ! ^ \\ \\] \\- \\a / , : .'),
        words('a-c A-Z --b \\a-\\c !-~ \x01-\x1f \x01 \x7f \t é à-ü * ?'),
        words('alnum alpha blank cntrl digit graph lower print punct space upper xdigit bogus').map((name) => `[:${name}:]`),
        fc.constantFrom('[::]', ' '),
      ),
      { maxLength: 4 },
    ),
    end: fc.constantFrom(']', ']', ']', ']', ']*', ''),
  })
  .map(({ negation, members, end }) => `[${negation}${members.join('')}${end}`); // prettier-ignore
const piece = fc.oneof(
  { weight: 6, arbitrary: name },
  { weight: 5, arbitrary: words('* ** *** ? *.log a* *b f*o* **a a** fo** *a*b* ?? *.* .*') },
  { weight: 3, arbitrary: fc.tuple(fc.constantFrom('', '', 'a'), set).map((parts) => parts.join('')) },
  { weight: 1, arbitrary: words('[Aa] []a] [!]a] a[/]b x[\\^]y [\r] *.[[:alpha:]]') },
  { weight: 2, arbitrary: fc.oneof(words('\\a \\A \\* \\? \\[a] \\!a \\#a a\\\\b a\\ \\ \\é'), fc.constantFrom('a\\ ', '\\ ')) },
  { weight: 1, arbitrary: fc.string({ unit: fc.constantFrom(...Array.from('ab*?[]!-\\/ .é')), maxLength: 6 }) },
); // prettier-ignore
const line = fc
  .record({
    negative: fc.oneof({ weight: 5, arbitrary: fc.constant('') }, { weight: 2, arbitrary: fc.constant('!') }),
    leading: fc.constantFrom('', '', '/', '**/', '//'),
    pieces: fc.array(piece, { minLength: 1, maxLength: 4 }),
    joint: fc.constantFrom('/', '/', '/', '', '\\/', '/**/'),
    trailing: fc.constantFrom('', '', '', '/', '/**', '/*', ' ', '\\ ', '//', '/ ', '\t'),
  })
  .map(
    ({ negative, leading, pieces, joint, trailing }) => negative + leading + pieces.join(joint) + trailing,
  );
const ignoreFile = fc
  .record({
    bom: fc.constantFrom('', '', '', '\ufeff'),
    lines: fc.array(
      fc.oneof(
        { weight: 9, arbitrary: line },
        { weight: 1, arbitrary: fc.constantFrom('', '# a', ' ', '!', '/', '#a') },
      ),
      {
        minLength: 1,
        maxLength: 4,
      },
    ),
    end: fc.constantFrom('\n', '\n', '\r\n', '\r\r\n'),
    last: fc.boolean(),
  })
  .map(({ bom, lines, end, last }) => bom + lines.join(end) + (last ? end : ''))
  .filter(isReadAlike);

/** Before 2.52, Git's stars behind plain text match `/`, too. */
function isReadAlike(text: string): boolean {
  return !/^[^*?[\\\n]*[^*?[\\/\n]\*\*+(?:\\?\/|\s*$)/m.test(text);
}

interface Tree {
  readonly files: string[];
  readonly folder: string[];
  readonly ignoreFiles: { readonly at: string[]; readonly text: string }[];
  readonly infoExclude: string;
  readonly excludesFile: string;
  readonly ignoreCase: boolean;
}

const path = fc.array(name, { minLength: 1, maxLength: 4 });
const tree: fc.Arbitrary<Tree> = fc.record({
  files: fc.array(
    path.map((names) => names.join('/')),
    { minLength: 3, maxLength: 25 },
  ),
  folder: fc.oneof(
    { weight: 4, arbitrary: fc.constant<string[]>([]) },
    { weight: 1, arbitrary: fc.array(name, { minLength: 1, maxLength: 2 }) },
  ),
  ignoreFiles: fc.array(fc.record({ at: fc.array(name, { maxLength: 2 }), text: ignoreFile }), {
    minLength: 1,
    maxLength: 4,
  }),
  infoExclude: fc.oneof({ weight: 3, arbitrary: fc.constant('') }, { weight: 1, arbitrary: ignoreFile }),
  excludesFile: fc.oneof({ weight: 3, arbitrary: fc.constant('') }, { weight: 1, arbitrary: ignoreFile }),
  ignoreCase: fc.boolean(),
});

/** Plants the tree, skipping names that are a file already. */
function plantTree(root: string, { files, folder, ignoreFiles }: Tree): void {
  const taken = new Map<string, 'file' | 'folder'>();
  const put = (path: string, text: string): void => {
    const names = path.split('/');
    const parents = names.map((_, index) => names.slice(0, index).join('/')).filter(Boolean);
    if (parents.some((parent) => taken.get(parent) === 'file') || taken.has(path)) return;
    for (const parent of parents) taken.set(parent, 'folder');
    taken.set(path, 'file');
    plant(root, { [path]: text });
  };
  put([...folder, 'inside'].join('/'), '');
  for (const { at, text } of ignoreFiles) put([...at, '.gitignore'].join('/'), text);
  for (const file of files) put(file, '');
}

test('a selection equals what git would add, for random trees with random ignore files', async () => {
  await fc.assert(
    fc.asyncProperty(tree, async (tree) => {
      const planted = makeLocation();
      try {
        plantRepository(planted.root, `\tignorecase = ${String(tree.ignoreCase)}\n`);
        plantTree(planted.root, tree);
        plant(planted.root, { '.git/info/exclude': tree.infoExclude });
        plant(planted.home, { '.config/git/ignore': tree.excludesFile });
        const folder = [planted.root, ...tree.folder].join('/');
        const { files } = await selectFiles(folder, options(planted));
        const ours = files.map(({ path }) => path);
        // Nothing in the repository overrides the user's excludes file.
        const gits = new Set(gitSelects(planted, folder, join(planted.home, '.config/git/ignore')));
        const expected = gitSelects(planted, folder).filter((path) => gits.has(path));
        assert.deepEqual(ours, expected);
      } finally {
        planted.remove();
      }
    }),
    { numRuns: runs, ...replay },
  );
});
