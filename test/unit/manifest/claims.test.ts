import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { test } from 'node:test';
import { manifest, read, readJson, root } from './projectFiles.ts';

// Docs and texts on screen say this of the source, of commands, and of the tests.

test('files and folders of the source are within the limits that CONTRIBUTING.md names', () => {
  const [, lines, entries] =
    /No file of `src` over (\d+) lines, no folder of it over (\d+) entries/.exec(read('CONTRIBUTING.md')) ??
    [];
  assert.ok(Number(lines) > 0 && Number(entries) > 0);
  const files = globSync('src/**/*.ts', { cwd: root });
  const tooLong = files.filter((file) => read(file).split('\n').length - 1 > Number(lines));
  const folders = globSync('src/**/', { cwd: root });
  const tooFull = folders.filter((folder) => globSync(`${folder}/*`, { cwd: root }).length > Number(entries));
  assert.ok(files.length > 100 && folders.length > 20);
  assert.deepEqual([tooLong, tooFull], [[], []]);
});

test('a sentence that names a command has the exact title of the command in quotation marks', () => {
  const names = readJson('package.nls.json');
  const titles = Object.entries(names).flatMap(([key, title]) => (key.startsWith('command.') ? title : []));
  const texts = [
    ...Object.keys(readJson('l10n/bundle.l10n.ja.json')),
    ...Object.entries(names).flatMap(([key, text]) => (key.startsWith('command.') ? [] : text)),
  ].map((text) => text.replaceAll(/\[[^\]]*\]\(command:[^)]*\)/g, ''));
  const ofSeveralWords = titles.filter((title) => title.includes(' '));
  assert.ok(ofSeveralWords.length > 50);
  // At its beginning, a text is a title itself.
  const unquoted = ofSeveralWords.flatMap((title) => {
    const bare = title.replace('…', '');
    return texts.filter((text) => text.replaceAll(`“${title}”`, '').slice(1).includes(bare));
  });
  assert.deepEqual(unquoted, []);
  const quoted = texts.flatMap((text) =>
    [...text.matchAll(/“([A-Z][a-z]+ [^”{]+)”/g)].map(([, name = '']) => name),
  );
  const commands = quoted.filter((name) =>
    titles.some((title) => title.replace('…', '') === name.replace('…', '')),
  );
  assert.deepEqual(
    commands.filter((name) => !titles.includes(name)),
    [],
  );
  assert.ok(commands.length > 3);
});

test('a link to a command has an ellipsis where the title of the command has one', () => {
  const { contributes } = manifest as {
    contributes: { commands: { command: string; title: string }[] };
  };
  for (const file of ['package.nls.json', 'package.nls.ja.json']) {
    const texts = readJson(file);
    const titleOf = new Map(
      contributes.commands.map(({ command, title }) => [command, texts[title.slice(1, -1)] ?? title]),
    );
    const links = Object.values(texts).flatMap((text) => [
      ...text.matchAll(/\[([^\]]+)\]\(command:([\w.]+)/g),
    ]);
    const ofOurs = links.filter(([, , command = '']) => titleOf.has(command));
    assert.ok(ofOurs.length > 20);
    assert.deepEqual(
      ofOurs.flatMap(([, label = '', command = '']) =>
        label.endsWith('…') === titleOf.get(command)?.endsWith('…') ? [] : [label],
      ),
      [],
    );
  }
});

test('docs/testing.md has a row for each layer of npm test, and the docs name the layer that it excludes', () => {
  const source = read('test/run.ts');
  const [, onlyNamed = ''] = /const onlyNamed = '(\w+)'/.exec(source) ?? [];
  const [, order = ''] = /const order = \[\n([^]+?)\n\];/.exec(source) ?? [];
  const layers = [...[...order.matchAll(/'(\w+)'/g)].map(([, name = '']) => name), onlyNamed];
  const testing = read('docs/testing.md');
  const [, rows = ''] = /\n\| layer \|[^\n]*\n([^]+?)\n\n/.exec(testing) ?? [];
  const described = [...rows.matchAll(/^\| ([\w, ]+) \|/gm)].flatMap(([, cell = '']) => cell.split(', '));
  assert.deepEqual(described.toSorted(), layers.toSorted());
  for (const text of [testing, read('CONTRIBUTING.md')])
    assert.deepEqual(
      [...text.matchAll(/every layer but `?(\w+)`?/g)].map(([, name]) => name),
      [onlyNamed],
    );
});

test('the finding in README is one of the sample, with its locations and its fix', () => {
  interface Location {
    readonly file_path: string;
    readonly start_line: number;
  }
  const findings = JSON.parse(read('examples/sample/english/second.json')) as readonly {
    readonly title: string;
    readonly severity: string;
    readonly cwe: string;
    readonly description: string;
    readonly recommendation: string;
    readonly source?: Location;
    readonly locations: readonly [Location];
  }[];
  const [, severity = '', title = '', quote = ''] =
    /\n> \*\*(\w+): (.+)\*\*( · [^]+?)\n\n/.exec(read('README.md')) ?? [];
  const finding = findings.find((each) => each.title === title);
  assert.ok(finding?.source);
  assert.equal(severity.toLowerCase(), finding.severity);
  const [fix = ''] = finding.recommendation.split(':\n');
  const locations = [finding.source, ...finding.locations].map(
    ({ file_path: file, start_line: line }) => `\`${file}\`, line ${String(line)}`,
  );
  for (const text of [finding.cwe, finding.description, fix, ...locations])
    assert.ok(quote.includes(text), text);
});
