import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maskSecrets } from '../../../../src/core/upload/secrets/checkSecrets.ts';
import { checkApart, invented, tree, select, workerFile } from './secretChecks.ts';
import type { Seed } from './secretSeeds.ts';

/** These may stand right behind and right before a credential, and are no part of it. */
const contexts: Readonly<Record<string, readonly [before: string, after: string]>> = {
  'Japanese letters': ['キー', 'です'],
  'Latin letters with accents': ['é', 'é'],
  'Cyrillic letters': ['ж', 'ж'],
  'Japanese punctuation': ['「', '」。'],
  'an emoji': ['😀', '😀'],
  'line breaks': ['\n', '\nRotate'],
  'invisible characters': ['\u200B', '\u200BRotate'],
  'a variation selector': ['\uFE0F', '\u{E0100}'],
  'a letter': ['x', ' '],
  'a capital letter': ['X', ' '],
  'a low line': ['_', ' '],
  'a low line after it': [' ', '_'],
};
/**
 * Such a credential is known by a name, a line's start, or a line before it, which is a part of
 * what is found.
 */
const isWhole = /^(?:assignment|authorization|aws-secret|private-key|azure-connection|curl|bundler)/;
/** A credential, with its public part, stands between two texts. */
function between({ rule, content, secret }: Seed, [before, after]: readonly [string, string]): string {
  if (isWhole.test(rule)) return `${before}${content}${after}`;
  const at = content.indexOf(secret);
  const start = at - (/[^\s"'(=]*$/.exec(content.slice(0, at))?.[0].length ?? 0);
  const rest = content.slice(at + secret.length);
  const end = content.length - rest.length + (/^[^\s"')]*/.exec(rest)?.[0].length ?? 0);
  return content.slice(0, start) + before + content.slice(start, end) + after + content.slice(end);
}

interface Case {
  readonly name: string;
  readonly seed: Seed;
  readonly text: string;
}

const inContexts = invented.flatMap((seed, number): Case[] =>
  Object.entries(contexts)
    .filter(([, [before, after]]) => {
      // It would be a part of the name.
      if (seed.rule === 'assignment') return !/[a-z_]/i.test(before);
      return after !== '_' || !seed.mayHaveLowLine;
    })
    .map(([context, around]) => ({
      name: `${seed.rule} (${String(number)}), ${context}`,
      seed,
      text: between(seed, around),
    })),
);

/** Returns true if half of a line of the credential is in the text. */
function isShown(text: string, { secret }: Seed): boolean {
  const lines = secret.split('\n').filter((line) => line.length > 5 && !line.startsWith('-----'));
  return lines.some((line) => {
    const half = Math.floor(line.length / 2);
    return text.includes(line.slice(0, half)) || text.includes(line.slice(half));
  });
}

test('F178 every kind of credential is found beside letters of any script, `_` and what is not drawn', async (t) => {
  const paths = inContexts.map(({ seed }, at) => `${String(at)}/${seed.path}`);
  const root = tree(t, Object.fromEntries(inContexts.map(({ text }, at) => [paths[at] ?? '', text])));
  const { suspicions } = await checkApart({ root, files: select(root, paths) });
  const found = new Set(suspicions.map(({ path }) => path));
  const missed = inContexts.filter((_, at) => !found.has(paths[at] ?? ''));
  assert.deepEqual(
    missed.map(({ name }) => name),
    [],
  );
  assert.ok(inContexts.length > 1_000);
});

test('F178 every kind of credential is masked beside letters of any script, `_` and what is not drawn', async () => {
  const masked = await maskSecrets(
    inContexts.map(({ text }) => text),
    workerFile,
  );
  assert.deepEqual(
    inContexts.filter(({ seed }, at) => isShown(masked[at] ?? '', seed)).map(({ name }) => name),
    [],
  );
});

test('F178 what stands beside a credential is not masked with it', async () => {
  const token = ['ghp_', 'a1B2'.repeat(9)].join('');
  const jwt = ['eyJ', 'hbGciOiJIUzI1', '.eyJ', 'zdWIiOiIxMjM0', '.', 'a1B2'.repeat(10)].join('');
  const around = [
    ['キー', 'です。'],
    ['x', ''],
    ['', '\nRotate it.'],
    ['', '\u200Bnow'],
    ['Replace\n', '\nwith another one'],
    ['', '.'],
  ] as const;
  for (const secret of [token, jwt]) {
    const masked = await maskSecrets(
      around.map(([before, after]) => before + secret + after),
      workerFile,
    );
    for (const [at, [before, after]] of around.entries()) {
      assert.ok(masked[at]?.startsWith(before), masked[at]);
      assert.ok(masked[at]?.endsWith(after), masked[at]);
      assert.ok((masked[at]?.length ?? 0) < before.length + after.length + 12, masked[at]);
    }
  }
});
