import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { readHostMessage, readWebviewMessage, readWebviewState } from '../../../src/core/report/protocol.ts';

test('F81 only the four messages of the report view are accepted, with places and actions by index', () => {
  assert.deepEqual(readWebviewMessage({ type: 'ready' }), { type: 'ready' });
  for (const type of ['openLocation', 'act'])
    assert.deepEqual(readWebviewMessage({ type, index: 3 }), { type, index: 3 });

  const rendered = { type: 'rendered', documentId: 'r', html: '<p>x</p>' };
  assert.deepEqual(readWebviewMessage(rendered), rendered);

  const forged: unknown[] = [
    { ...rendered, html: 1 },
    { ...rendered, html: 'x'.repeat(100_000_001) },
    { ...rendered, path: '/etc/passwd' },
    { type: 'rendered', html: '' },
    undefined,
    null,
    'openLocation',
    42,
    [],
    [{ type: 'ready' }],
    {},
    { type: 'openlocation', index: 1 },
    { type: 'openLocation' },
    { type: 'openLocation', index: '1' },
    { type: 'openLocation', index: -1 },
    { type: 'act', index: 0, command: 'workbench.action.quit' },
    { type: 'openLocation', index: 1.5 },
    { type: 'openLocation', index: Number.NaN },
    { type: 'openLocation', index: Number.POSITIVE_INFINITY },
    { type: 'openLocation', index: 2 ** 60 },
    { type: 'openLocation', index: [1] },
    { type: 'openLocation', index: { valueOf: () => 1 } },
    { type: 'openLocation', path: '/etc/passwd' },
    { type: 'openLocation', index: 1, path: '/etc/passwd' },
    { type: 'openLocation', index: 1, command: 'workbench.action.terminal.new' },
    { type: 'ready', index: 1 },
    { type: 'command', command: 'workbench.action.quit' },
    { type: 'openLink', href: 'https://attacker.example' },
    { type: ['ready'] },
    JSON.parse('{"__proto__":{"type":"ready"}}'),
    JSON.parse('{"type":"ready","__proto__":{"index":1}}'),
  ];
  for (const message of forged) {
    assert.equal(readWebviewMessage(message), undefined, inspect(message, { maxStringLength: 100 }));
  }
});

test('a message with an inherited type or a custom prototype is refused', () => {
  assert.equal(readWebviewMessage(Object.create({ type: 'command' })), undefined);
  assert.equal(readWebviewMessage(new Map([['type', 'ready']])), undefined);
});

test('the view accepts a report only if every part is present', () => {
  const words =
    'tableOfContents skipContents findingsBySeverity copy copied copyFailed openInEditor done notDone code table';
  const message = {
    type: 'show',
    documentId: 'r1',
    content: {
      parts: [{ markdown: '# Report' }, { heading: 'Description', markdown: 'x' }],
      title: 'shop',
      facts: [{ label: 'Files', value: '142' }],
      severities: [{ severity: 'high', label: 'High', count: 2 }],
      locations: [{ index: 0, label: 'src/a.ts:1' }],
      language: 'en',
    },
    strings: {
      ...Object.fromEntries(words.split(' ').map((word) => [word, word])),
      alerts: { note: 'n', tip: 't', important: 'i', warning: 'w', caution: 'c' },
    },
  };
  assert.deepEqual(readHostMessage(message), message);
  assert.equal(readHostMessage({ ...message, content: { ...message.content, parts: undefined } }), undefined);
  assert.equal(
    readHostMessage({
      ...message,
      content: { ...message.content, locations: [{ index: 0, label: 'a:1', path: '/a' }] },
    }),
    undefined,
  );
  assert.equal(
    readHostMessage({
      ...message,
      content: { ...message.content, severities: [{ severity: 'x', label: 'X', count: 1 }] },
    }),
    undefined,
  );
});

test('a saved state of another shape is dropped, and extra members are allowed', () => {
  assert.deepEqual(readWebviewState({ documentId: 'r1', section: 2, offsetPx: 10.5, later: true }), {
    documentId: 'r1',
    section: 2,
    offsetPx: 10.5,
  });
  assert.equal(readWebviewState({ runId: 'r1' }), undefined);
  assert.equal(readWebviewState(null), undefined);
});
