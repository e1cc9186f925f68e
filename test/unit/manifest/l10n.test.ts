import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { test } from 'node:test';
import ts from 'typescript';
import * as z from 'zod/mini';
import { targetFileSchema } from '../../../src/core/workflows/targetFile.ts';
import { manifest, read, readJson, root } from './projectFiles.ts';

/** The key includes the comment of the text, if it has one. */
function keyOf(text: ts.Expression | undefined): string | undefined {
  if (text && ts.isStringLiteralLike(text)) return text.text;
  const [message, comment] =
    /^\{ message: '(.+)', comment: \['(.+)'\] \}$/.exec(text?.getText() ?? '')?.slice(1) ?? [];
  return message && `${message}/${String(comment)}`;
}

/**
 * The texts are given to `vscode.l10n.t`, under that name or as `t`, or describe the schema of
 * target files.
 */
function textsInCode(): Set<string> {
  const texts = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && /(^|\.l10n\.)t$/.test(node.expression.getText())) {
      const key = keyOf(node.arguments[0]);
      assert.ok(key, `Only a literal can be translated: ${node.getText()}`);
      texts.add(key);
    }
    ts.forEachChild(node, visit);
  };
  // Hovers and completion of a target file show the descriptions of its schema.
  for (const [, description = ''] of JSON.stringify(z.toJSONSchema(targetFileSchema)).matchAll(
    /"description":"([^"]+)"/g,
  ))
    texts.add(description);
  for (const file of globSync('src/**/*.ts', { cwd: root })) {
    visit(ts.createSourceFile(file, read(file), ts.ScriptTarget.Latest, true));
  }
  return texts;
}

function difference(
  there: readonly string[],
  used: ReadonlySet<string | undefined>,
): { missing: unknown; unused: unknown } {
  const known = new Set(there);
  return {
    missing: [...used].filter((key) => !known.has(key ?? '')),
    unused: there.filter((key) => !used.has(key)),
  };
}

function placeholders(text: string): string[] {
  return (text.match(/\{\d+\}/g) ?? []).sort();
}

test('every text in the code has a Japanese translation with the same placeholders, and none is unused', () => {
  const bundle = readJson('l10n/bundle.l10n.ja.json');
  assert.deepEqual(difference(Object.keys(bundle), textsInCode()), { missing: [], unused: [] });
  for (const [english, japanese] of Object.entries(bundle)) {
    assert.deepEqual(placeholders(japanese), placeholders(english), english);
    assert.notEqual(japanese, '');
  }
});

test('every text of the manifest exists in both languages, and none is unused', () => {
  const used = [...read('package.json').matchAll(/"%([^%"]+)%"/g)].map(([, key]) => key);
  for (const texts of [readJson('package.nls.json'), readJson('package.nls.ja.json')])
    assert.deepEqual(difference(Object.keys(texts), new Set(used)), { missing: [], unused: [] });
});

test('errors and states are worded only in translatable messages', () => {
  for (const file of globSync('src/editor/**/*.ts', { cwd: root })) {
    const source = read(file);
    assert.doesNotMatch(
      source,
      /(show(Error|Warning|Information)(Message)?\(|askInDialog\(\{[^}]*question:)\s*['"`]/,
      file,
    );
  }
});

test('every setting with fixed values describes each of them', () => {
  const { contributes } = manifest as {
    contributes: {
      configuration: {
        properties: Readonly<Record<string, { enum?: string[]; enumDescriptions?: string[] }>>;
      };
    };
  };
  for (const [key, setting] of Object.entries(contributes.configuration.properties))
    assert.equal(setting.enumDescriptions?.length, setting.enum?.length, key);
});
