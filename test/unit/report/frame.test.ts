import assert from 'node:assert/strict';
import { test } from 'node:test';
import { documentHtml } from '../../../src/core/report/documentHtml.ts';

const frame = {
  scriptUri: 'https://webview.example/report.js?a=1&b="2"',
  styleUri: 'https://webview.example/report.css',
  cspSource: 'https://webview.example',
  nonce: 'bm9uY2U=',
  language: 'ja',
};

const frameAllows =
  /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(documentHtml(frame))?.[1] ?? '';

test('the report page allows one script by nonce, its own stylesheet, and nothing else', () => {
  const policy = new Map(
    frameAllows
      .split('; ')
      .map((directive) => [directive.split(' ')[0]!, directive.split(' ').slice(1).join(' ')]),
  );
  assert.equal(policy.get('default-src'), "'none'");
  assert.equal(policy.get('script-src'), "'nonce-bm9uY2U='");
  assert.equal(policy.get('style-src'), 'https://webview.example');
  for (const name of ['font-src', 'img-src', 'connect-src', 'frame-src', 'base-uri', 'form-action']) {
    assert.equal(policy.get(name), "'none'", name);
  }
  assert.doesNotMatch(frameAllows, /unsafe|\*|data:|blob:|https?:(?!\/\/webview\.example)/);
});

test('the report page has no inline script, style or handler, and its URLs are escaped', () => {
  const html = documentHtml(frame);
  assert.match(html, /<html lang="ja">/);
  assert.match(html, /src="https:\/\/webview\.example\/report\.js\?a=1&amp;b=&quot;2&quot;"/);
  assert.doesNotMatch(html, /<style|\sstyle=|\son[a-z]+=/);
  assert.equal(html.match(/<script/g)?.length, 1);
  assert.match(html, /<script [^>]*><\/script>/);
});
