import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseFindings } from '../../../src/core/findings/parse/parseFindings.ts';
import {
  toVisibleJson,
  visibleLine,
  visibleName,
  visibleText,
  visibleToAgents,
} from '../../../src/core/visibleText.ts';
import { propertyRuns } from './propertyRuns.ts';

test('F79 control and bidi characters of titles, IDs and ratings become visible escapes', () => {
  const item = {
    id: 'F\u0000\u200F1',
    title: 'safe\u202Eevil\u2066\u2069 \u0007\u001b[31m\r\nnext',
    severity: 'bad\u202Eness',
    cwe: 79,
  };
  const finding = parseFindings(JSON.stringify([item])).findings[0];
  assert.equal(finding?.title, 'safe\\u{202E}evil\\u{2066}\\u{2069} \\u{0007}\\u{001B}[31m next');
  assert.equal(finding.id, 'F\\u{0000}\\u{200F}1');
  assert.equal(finding.severityText, 'bad\\u{202E}ness');
});

test('F79 different file names look different: line breaks and spaces are visible', () => {
  assert.equal(visibleName('a\nb\tc\u202E  d .js'), 'a\\u{000A}b\\u{0009}c\\u{202E}  d .js');
});

test('line breaks, tabs, Japanese and joined emoji are unchanged', () => {
  assert.equal(visibleText('a\r\n\tb 重大 👩\u200D💻'), 'a\n\tb 重大 👩\u200D💻');
  assert.equal(visibleText('\u2028\uFEFF\u00AD\uD800'), '\\u{2028}\\u{FEFF}\\u{00AD}\\u{D800}');
  // These code points are unassigned and have no glyph.
  assert.equal(visibleText('\u{E0000}葛\u{E0101}\u{E0FFF}'), '\\u{E0000}葛\u{E0101}\\u{E0FFF}');
});

test('no output contains a character that hides or reorders others', () => {
  const wild = fc
    .array(
      fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.constantFrom('\u202A', '\u202E', '\u2067', '\u061C', '\u200E', '\u009B', '\u{E0041}'),
      ),
    )
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(wild, (text) => {
      assert.doesNotMatch(
        visibleText(text).replace(/[\n\t\u200C\u200D]/g, ''),
        /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u,
      );
      assert.doesNotMatch(visibleLine(text), /[\r\n\t]/);
    }),
    { numRuns: propertyRuns(200) },
  );
});

test('a raw value is shown as JSON that parses to the same value', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.string({ unit: 'binary' }), (value, text) => {
      const raw = { value, text };
      assert.deepEqual(JSON.parse(toVisibleJson(JSON.stringify(raw)) ?? ''), JSON.parse(JSON.stringify(raw)));
    }),
  );
});

test('raw JSON has no invisible characters, and visible text is unchanged', () => {
  const shown = toVisibleJson(
    JSON.stringify({ title: 'a\u202Eb\u0085\u200B\u{E0041}\u2028', 説明: 'パスワード 👍 é' }),
  );
  assert.ok(shown !== undefined);
  assert.doesNotMatch(shown, /[\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u007F-\u009F]/u);
  assert.match(shown, /"a\\u202eb\\u0085\\u200b\\udb40\\udc41\\u2028"/);
  assert.match(shown, /"説明": "パスワード 👍 é"/);
});

test('a value that is nested too deeply has no JSON', () => {
  assert.equal(toVisibleJson(`${'['.repeat(100_000)}${']'.repeat(100_000)}`), undefined);
});

test('F79 to agents, every code point that is not drawn is visible, alone and in a text', () => {
  const ignorable: number[] = [];
  for (let code = 0; code <= 0x10ffff; code++)
    if (/\p{DI}/u.test(String.fromCodePoint(code))) ignorable.push(code);
  assert.ok(ignorable.length > 4_000);
  for (const code of ignorable) {
    const character = String.fromCodePoint(code);
    const escape = `\\u{${code.toString(16).toUpperCase().padStart(4, '0')}}`;
    assert.equal(visibleToAgents(`a${character}b葛${character}`), `a${escape}b葛${escape}`);
  }
});

test('F79 to agents, emoji stay whole, and carry nothing more than they need', () => {
  const england = '\u{1F3F4}\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}';
  for (const emoji of [
    '❤\uFE0F',
    '👩\u200D💻',
    '👩🏽\u200D🦰',
    '🏳\uFE0F\u200D🌈',
    '1\uFE0F\u20E3',
    england,
    '🇯🇵',
  ])
    assert.equal(visibleToAgents(`a ${emoji} b`), `a ${emoji} b`);
  assert.equal(visibleToAgents('❤\uFE0F\uFE0F'), '❤\uFE0F\\u{FE0F}');
  assert.equal(visibleToAgents('👩\u200Dx'), '👩\\u{200D}x');
  assert.equal(visibleToAgents('👩\u{E0067}\u{E007F}'), '👩\\u{E0067}\\u{E007F}');
  assert.equal(visibleToAgents('1\uFE0F2'), '1\\u{FE0F}2');
  assert.equal(visibleToAgents('می\u200Cخواهم\r\n\tx'), 'می\\u{200C}خواهم\n\tx');
});
