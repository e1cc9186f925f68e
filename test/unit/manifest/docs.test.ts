import assert from 'node:assert/strict';
import { existsSync, globSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import ts from 'typescript';
import * as z from 'zod/mini';
import { workflows } from '../../../src/core/workflows/workflows.ts';
import { manifest, read, readJson, root } from './projectFiles.ts';

interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** docs/api.md writes the bounds of a schema like this. */
function boundsOf(schema: JsonSchema): string {
  const [unit, least, most] =
    schema.items !== undefined
      ? [' items', schema.minItems, schema.maxItems]
      : schema.maxLength !== undefined
        ? [' characters', schema.minLength, schema.maxLength]
        : ['', schema.minimum, schema.maximum];
  return `${least === undefined ? 'at most ' : `${String(least)} to `}${String(most)}${unit}`;
}

test('the bounds in docs/api.md equal those of the request schemas', () => {
  const inputs = Object.values(workflows).map(
    ({ request }) => (z.toJSONSchema(request) as JsonSchema).properties?.['input'],
  );
  const text = read('docs/api.md');
  const rows = [...text.matchAll(/^\| `([a-z_.[\]]+)` \| ((?:at most )?\d[^|]*) \|$/gm)];
  assert.equal(rows.length, 19);
  for (const [, field = '', bounds] of rows) {
    const steps = field.replaceAll('[]', '.[]').split('.');
    const found = inputs.flatMap(
      (input) =>
        steps.reduce<JsonSchema | undefined>(
          (schema, step) => (step === '[]' ? schema?.items : schema?.properties?.[step]),
          input,
        ) ?? [],
    );
    assert.notEqual(found.length, 0, field);
    for (const schema of found) assert.equal(boundsOf(schema), bounds, field);
  }
});

function cellsOf(file: string): string[][] {
  const lines = read(file).split('\n');
  return lines
    .filter((line) => line.startsWith('| '))
    .map((line) => line.split('|').map((cell) => cell.trim()));
}

/** Agents read these descriptions of the tools, the only ones in the manifest itself. */
function toolDescriptions(): readonly string[] {
  const texts: string[] = [];
  JSON.stringify(manifest, (key, value: unknown) => {
    if (/description$/i.test(key) && typeof value === 'string') texts.push(value);
    return value;
  });
  return texts;
}

/** The texts have no link targets. */
function textsOnScreen(): { readonly english: readonly string[]; readonly japanese: readonly string[] } {
  const bundle = readJson('l10n/bundle.l10n.ja.json');
  const withoutTargets = (text: string): string => text.replaceAll(/\]\(command:[^)]*\)/g, ']');
  return {
    english: [
      ...Object.keys(bundle),
      ...Object.values(readJson('package.nls.json')),
      ...toolDescriptions(),
    ].map(withoutTargets),
    japanese: [...Object.values(bundle), ...Object.values(readJson('package.nls.ja.json'))].map(
      withoutTargets,
    ),
  };
}

test('no text on screen uses a word that docs/terms.md excludes', () => {
  const { english, japanese } = textsOnScreen();
  const rows = cellsOf('docs/terms.md').slice(1);
  assert.ok(rows.length > 40);
  for (const [, , never = '', , neverJapanese = ''] of rows) {
    for (const word of never.split(', ').filter((each) => each !== '')) {
      const pattern = new RegExp(`\\b${word}\\b`, 'i');
      assert.deepEqual(
        english.filter((text) => pattern.test(text)),
        [],
        word,
      );
    }
    for (const word of neverJapanese.split('、').filter((each) => each !== ''))
      assert.deepEqual(
        japanese.filter((text) => text.includes(word)),
        [],
        word,
      );
  }
});

/** Strings of the source that are a name, such as kinds and steps, are names, too. */
function namesInCode(): ReadonlySet<string> {
  const names = new Set<string>();
  const collect = (node: ts.Node): void => {
    if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node) || ts.isStringLiteral(node))
      if (/^#?[a-z]\w*$/i.test(node.text)) names.add(node.text);
    ts.forEachChild(node, collect);
  };
  for (const file of globSync(['src/**/*.ts', 'webview-ui/**/*.ts'], { cwd: root }))
    collect(ts.createSourceFile(file, read(file), ts.ScriptTarget.Latest));
  return names;
}

test('no name in code has a part, or is a name, that docs/terms.md excludes', () => {
  const ofPlatform = new Set(['allSettled', 'placeHolder']);
  const names = [...namesInCode()].filter((name) => !ofPlatform.has(name));
  assert.ok(names.length > 5_000);
  const wordsOf = (name: string): string =>
    name
      .replaceAll(/[a-z\d](?=[A-Z])|[A-Z](?=[A-Z][a-z])/g, '$& ')
      .replaceAll(/[_#]+/g, ' ')
      .toLowerCase();
  const inWords = names.map((name) => [name, wordsOf(name)] as const);
  const rows = cellsOf('docs/terms.md').slice(1);
  const parts = rows.flatMap((cells) => cells[6]?.split(', ').filter((part) => part !== '') ?? []);
  assert.ok(parts.length >= 14);
  for (const part of parts) {
    const pattern = new RegExp(`\\b${wordsOf(part)}(?:s|d|ments?)?\\b`);
    assert.deepEqual(
      inWords.flatMap(([name, words]) => (pattern.test(words) ? name : [])),
      [],
      part,
    );
  }
  const [, never = ''] = /^Code has none of these names: (.+)\.$/m.exec(read('docs/terms.md')) ?? [];
  const excluded = new Set(never.split(', '));
  assert.ok(excluded.size >= 15);
  assert.deepEqual(
    names.filter((name) => excluded.has(name.replace('#', ''))),
    [],
  );
});

test('the texts on screen are written as docs/terms.md says', () => {
  const { english, japanese } = textsOnScreen();
  const wordsOf = (sentence: string): number => sentence.split(': ')[0]?.match(/\S+/g)?.length ?? 0;
  for (const text of english) {
    assert.doesNotMatch(
      text.replaceAll(/`[^`]*`/g, ''),
      /['"]|\w!|\bplease\b|\b(can|could|is|are|does|do|did|was|were|has|have) ?not\b/i,
    );
    for (const sentence of text.split(/(?<=[.?]) |\n/)) assert.ok(wordsOf(sentence) <= 20, sentence);
  }
  const isKanaOrKanji = '[ぁ-ヶー一-龠]';
  for (const text of japanese) {
    assert.doesNotMatch(text, /[（）：；！？]|[ァ-ヶー] [ァ-ヶー]|なければなりません|(?<![.\w])git\b/);
    assert.doesNotMatch(
      text.replaceAll('サービスの提供元', ''),
      /提供元|(試|(?<!最初から)やり直)してください。$/,
    );
    assert.doesNotMatch(text, new RegExp(`${isKanaOrKanji}[a-z0-9(]|[a-z0-9)]${isKanaOrKanji}`, 'i'));
  }
});

const docs = globSync(['*.md', 'docs/*.md', 'skills/*/*.md', '.github/*.md'], { cwd: root });

/** Code stands between backticks outside code blocks. docs/release.md has names of other tools. */
function codeInDocs(): readonly string[] {
  return docs.flatMap((file) => {
    if (file.endsWith('release.md')) return [];
    const text = read(file).replaceAll(/```[^]*?```/g, '');
    return [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);
  });
}

test('every file and name of the source that the docs name exists', () => {
  const folders = ['src', 'test', 'webview-ui', 'examples', 'media', 'l10n', 'skills', '.github', 'docs'];
  const files = globSync(folders.map((folder) => `${folder}/**/*.*`).concat('*.*', '.*'), { cwd: root });
  const paths = new Set(
    files.flatMap((file) => {
      const steps = file.split(path.sep);
      return steps.map((_, count) => steps.slice(0, count + 1).join('/'));
    }),
  );
  // A path may be given by its end, and without its extension.
  const ends = new Set(
    [...paths].flatMap((each) => {
      const steps = each.split('/');
      return steps.flatMap((_, start) => {
        const end = steps.slice(start).join('/');
        return [end, end.replace(/\.\w+$/, '')];
      });
    }),
  );
  const sources = files.filter((file) => /\.(ts|mjs|json)$/.test(file) && !file.includes('node_modules'));
  const texts = sources.map(read);
  const words = new Set(texts.flatMap((text) => text.match(/[\w-]+/g) ?? []));
  const isKnown = (code: string): boolean => {
    const [, beforeMember = code, member = ''] = /^(.*)\.(\w+)$/.exec(code) ?? [];
    return (
      ends.has(code) ||
      (ends.has(beforeMember) && words.has(member)) ||
      code.split('.').every((each) => words.has(each)) ||
      (code.includes('/') && texts.some((text) => text.includes(`/${code}`) || text.includes(`'${code}`)))
    );
  };
  const made = /^(dist|test-results|node_modules|\.vscode-test|User|\.vscode)(\/|$)/;
  const named = codeInDocs().filter((code) => /^[\w.-]{2,}(\/[\w.-]+)*$/.test(code) && !made.test(code));
  assert.ok(named.length > 500);
  assert.deepEqual(
    named.filter((code) => !isKnown(code)),
    [],
  );
});

test('a file of the source has the names that the docs give with it', () => {
  const text = ['CONTRIBUTING.md', 'docs/architecture.md', 'docs/change-map.md'].map(read).join('\n');
  const files = globSync(['src/**/*.ts', 'webview-ui/**/*.ts', 'test/**/*.ts'], { cwd: root });
  const withNames = [...text.matchAll(/`([\w/]+)` \(((?:`\w+`(?:, )?)+)\)/g)];
  const inFile = [...text.matchAll(/(`\w+`) in `([\w/]+)`/g)].map(([all, name = '', file = '']) => [
    all,
    file,
    name,
  ]);
  const named = [...withNames, ...inFile].flatMap(([, file = '', names = '']) =>
    [...names.matchAll(/\w+/g)].map(([name]) => ({ file, name })),
  );
  const has = ({ file, name }: { file: string; name: string }): boolean =>
    files.some((each) => `/${each}`.endsWith(`/${file}.ts`) && new RegExp(`\\b${name}\\b`).test(read(each)));
  assert.ok(named.length > 30);
  assert.deepEqual(
    named.filter((each) => !has(each)),
    [],
  );
});

test('every setting, command, and menu that the docs name is in the manifest', () => {
  const known = JSON.stringify(manifest);
  const named = docs.flatMap((file) => read(file).match(/(?<=`)whitebox\.[a-z][\w.]*(?=`)/gi) ?? []);
  assert.ok(named.length > 25);
  assert.deepEqual(
    named.filter((name) => !known.includes(`"${name}"`)),
    [],
  );
});

test('every command and button that the docs name has this title', () => {
  const titles = new Set([
    ...Object.values(readJson('package.nls.json')),
    ...Object.keys(readJson('l10n/bundle.l10n.ja.json')),
  ]);
  const named = docs.flatMap((file) => [...read(file).matchAll(/(\*{1,2})([^*\n]+…)\1/g)]);
  const ours = named.flatMap(([, , title = '']) =>
    /^(Extensions|Welcome|Developer): /.test(title) ? [] : title.replace('Whitebox: ', ''),
  );
  assert.ok(ours.length > 50);
  assert.deepEqual(
    ours.filter((title) => !titles.has(title)),
    [],
  );
});

test('no sentence of the docs has more than 25 words', () => {
  const long = docs.flatMap((file) => {
    const text = read(file).replaceAll(/```[^]*?```|^ {4}.+$|\]\([^)]*\)/gm, ']');
    const blocks = text.split(/\n\n|\n(?=\s*(?:[-*#>]|\d+\.) )|\|/);
    const sentences = blocks.flatMap((block) => block.split(/(?<=[.?!][*_”)]*)\s+(?=[A-Z`*“[(\d])/));
    return sentences.filter((sentence) => (sentence.match(/\S*\w\S*/g) ?? []).length > 25);
  });
  assert.deepEqual(long, []);
});

/** The pattern finds the number in a doc, in units of a constant of the source. */
const numbers: readonly (readonly [doc: string, text: RegExp, source: string, name: string, unit: number])[] =
  [
    ['SECURITY.md', /every (\d+) seconds at first/, 'core/run/state/delays', 'minPollMs', 1_000],
    ['SECURITY.md', /every (\d+) minutes eventually/, 'core/run/state/delays', 'maxPollMs', 60_000],
    ['SECURITY.md', /password \((\d+) or more characters\)/, 'core/run/start/dispatch', 'minEchoLength', 1],
    ['docs/api.md', /has at most (\d+) MB/, 'core/api/http', 'maxReplyBytes', 1024 * 1024],
    ['docs/architecture.md', /first ([\d,]+) characters/, 'core/findings/identity', 'maxSnippet', 1],
    ['docs/architecture.md', /has typed for (\d+) ms/, 'editor/findings/code/driftWatch', 'restMs', 1],
    ['docs/architecture.md', /beat, every (\d+) s/, 'core/run/drive/drivingWindow', 'beatMs', 1_000],
    ['docs/architecture.md', /left behind after (\d+) ms/, 'core/askWorker', 'maxExitMs', 1],
    ['docs/architecture.md', /has a limit [^:]*: (\d+) s/, 'core/yieldingWork', 'maxAnswerMs', 1_000],
    ['docs/architecture.md', /or (\d+) min for saving/, 'core/yieldingWork', 'maxTransferMs', 60_000],
    [
      'docs/architecture.md',
      /exit was (\w+) hours ago/,
      'core/run/steps/downloadArtifacts',
      'lostAfterMs',
      3_600_000,
    ],
    [
      'docs/architecture.md',
      /denies for (\d+) minutes/,
      'core/run/steps/downloadArtifacts',
      'deniedForMs',
      60_000,
    ],
    ['docs/commands.md', /up to ([\d,]+) rows/, 'lazyView', 'maxRows', 1],
    ['docs/troubleshooting.md', /the last (\d+) lines/, 'editor/account/copyDiagnostics', 'maxLines', 1],
  ];

test('the limits that the docs name are those of the source', () => {
  const words = ['zero', 'one', 'two', 'three', 'four', 'five', 'six'];
  for (const [doc, pattern, source, name, unit] of numbers) {
    const [, said = ''] = pattern.exec(read(doc)) ?? [];
    const [, factors = ''] =
      new RegExp(`\\bconst ${name} = ([\\d_* ]+);`).exec(read(`src/${source}.ts`)) ?? [];
    const value = factors.split('*').reduce((product, each) => product * Number(each.replaceAll('_', '')), 1);
    const number = words.includes(said) ? words.indexOf(said) : Number(said.replaceAll(',', ''));
    assert.equal(number * unit, value, `${doc}: ${String(pattern)}`);
  }
  const [, table = ''] = /String\.raw`\n([^`]+)\n`/.exec(read('src/core/upload/secrets/tokenTable.ts')) ?? [];
  const kinds = new Set(table.split('\n').map((line) => line.split(' ')[0]));
  const [, saidKinds] = /Tokens of more than (\d+) kinds/.exec(read('SECURITY.md')) ?? [];
  assert.ok(kinds.size > Number(saidKinds) && kinds.size < Number(saidKinds) + 20);
  const { engines } = manifest as { engines: { vscode: string } };
  const [oldest = ''] = /\d+\.\d+/.exec(engines.vscode) ?? [];
  assert.ok(read('README.md').includes(`VS Code ${oldest} `));
  assert.ok(read('docs/testing.md').includes(`VS Code ${oldest} (the oldest supported)`));
});

test('every row that the docs name is a row of npm run bench, and every npm command is a script', () => {
  const texts = globSync(['*.md', 'docs/*.md'], { cwd: root }).map(read);
  const named = (pattern: RegExp): readonly string[] =>
    texts.flatMap((text) => [...text.matchAll(pattern)].map(([, name = '']) => name));
  const cases = globSync('test/bench/cases/*.ts', { cwd: root }).map(read);
  const rows = new Set(
    cases.flatMap((text) => [...text.matchAll(/what: '([^']+)'/g)].map(([, row = '']) => row)),
  );
  const namedRows = named(/\brow “([^”]+)”/g);
  assert.ok(namedRows.length >= 3);
  assert.deepEqual(
    namedRows.filter((row) => !rows.has(row)),
    [],
  );
  const { scripts } = manifest as { scripts: Readonly<Record<string, string>> };
  assert.deepEqual(
    named(/\bnpm run ([\w:-]+)/g).filter((name) => !(name in scripts)),
    [],
  );
});

test('README clones the repository of the manifest, and SECURITY names the folder of the extension', () => {
  const { repository, publisher, name } = manifest as {
    repository: { url: string };
    publisher: string;
    name: string;
  };
  const readme = read('README.md');
  const folder = path.basename(repository.url, '.git');
  assert.ok(readme.includes(`\n    git clone ${repository.url} && cd ${folder}\n`));
  const security = read('SECURITY.md');
  assert.ok(security.includes(`\`User/globalStorage/${`${publisher}.${name}`.toLowerCase()}\``));
});

test('every link between the docs leads to a file, and to a heading if it names one', () => {
  const slugOf = (heading: string): string =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-');
  const docs = globSync(['*.md', 'docs/*.md', '.github/*.md'], { cwd: root });
  const broken = docs.flatMap((file) => {
    const text = read(file).replaceAll(/```[^]*?```|`[^`\n]*`/g, '');
    const links = [...text.matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g)];
    return links.flatMap(([link, target = '', heading]) => {
      const to = path.join(root, target === '' ? file : path.join(path.dirname(file), target));
      if (!existsSync(to)) return [`${file}: ${link}`];
      const headings = heading === undefined ? [] : (read(path.relative(root, to)).match(/^#+ .+$/gm) ?? []);
      const slugs = headings.map((each) => slugOf(each.replace(/^#+ /, '')));
      return heading === undefined || slugs.includes(heading) ? [] : [`${file}: ${link}`];
    });
  });
  assert.deepEqual(broken, []);
});

test('docs/commands.md lists every command, and every setting with scope and default', () => {
  const names = readJson('package.nls.json');
  const { contributes } = manifest as {
    contributes: {
      commands: readonly { title: string }[];
      configuration: { properties: Readonly<Record<string, { default: unknown; scope: string }>> };
    };
  };
  const rows = cellsOf('docs/commands.md');
  const listed = rows.flatMap(([, first = '']) => first.split(', '));
  assert.deepEqual(
    contributes.commands
      .map(({ title }) => names[title.slice(1, -1)])
      .filter((title) => !listed.includes(title ?? '')),
    [],
  );
  const scopes: Readonly<Record<string, string>> = { application: 'user', resource: 'folder' };
  for (const [key, { default: value, scope }] of Object.entries(contributes.configuration.properties)) {
    const row = rows.find(([, first]) => first === `\`${key}\``);
    const shown = value === '' ? '' : `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
    assert.deepEqual(row?.slice(2, 4), [scopes[scope] ?? scope, shown], key);
  }
});

test('every test title has at most 110 characters', () => {
  const sources = globSync('test/**/*.test.ts', { cwd: root }).map(read);
  const titles = sources.flatMap((source) =>
    [...source.matchAll(/\b(?:test|it|describe)\(\s*(['"`])(.+?)\1,(?= |$)/gm)].map(
      ([, , title = '']) => title,
    ),
  );
  assert.ok(titles.length > 1_000);
  assert.deepEqual(
    titles.filter(({ length }) => length > 110),
    [],
  );
});
