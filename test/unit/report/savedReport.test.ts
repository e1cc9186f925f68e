import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { toInertHtml, toSavedHtml } from '../../../src/core/report/savedHtml.ts';
import { cpuMs } from '../core/cpuTime.ts';
import { propertyRuns } from '../core/propertyRuns.ts';

const page = { title: 'T', language: 'en', body: '<main class="a">x</main>', style: 'body{color:red}' };

test('a saved report keeps text, structure and internal links', () => {
  const html =
    '<div class="page"><h1 id="h-3">日本 &amp; &lt;x&gt;</h1><a href="#h-3">go</a><table><tbody><tr><td align="right" colspan="2">1</td></tr></tbody></table><div class="bar" style="--share: 0.25;"></div><ol start="4"><li>a<br></li></ol></div>';
  assert.equal(toInertHtml(html), html);
});

test('unknown attributes and values are removed from a saved report', () => {
  const inertForms: Readonly<Record<string, string>> = {
    '<p onclick="x()">a</p>': '<p>a</p>',
    '<a href="https://attacker.example" title="t">a</a>': '<a>a</a>',
    '<a href="javascript:x">a</a>': '<a>a</a>',
    '<a href="#h-1" href="//x">a</a>': '<a href="#h-1">a</a>',
    '<p style="background:url(//x)">a</p>': '<p>a</p>',
    '<p style="--share: 1;background:red">a</p>': '<p>a</p>',
    '<p id="location">a</p>': '<p>a</p>',
    '<td background="//x" align="left">a</td>': '<td align="left">a</td>',
    '<a data-place="3" tabindex="0" role="button" class="place">a</a>': '<a class="place">a</a>',
  };
  for (const [html, inert] of Object.entries(inertForms)) assert.equal(toInertHtml(html), inert, html);
});

test('F81 HTML from the view beyond text and harmless elements is not saved', () => {
  const forged = [
    '<script>x</script>', '<p>a</p><img src="x">', '<svg></svg>', '<math></math>', '<style>x</style>',
    '<iframe></iframe>', '<form></form>', '<base href="//x">', '<meta http-equiv="refresh" content="0">',
    '<template></template>', '<title></title>', '</body>', '<!-- x -->', '<![CDATA[x]]>', '<?x?>', '<P>a</P>', '<p',
    '<p ', '<p a=b>', "<p a='b'>", '<p a="b"c="d">', '<p/>', '<p/onclick="x">', '< p>', '<', '<x-y></x-y>',
    '<svg:script>',
  ]; // prettier-ignore
  for (const html of forged) {
    assert.equal(toInertHtml(`<p>before</p>${html}`), undefined, html);
    assert.equal(toSavedHtml({ ...page, body: html }), undefined, html);
  }
});

test('saving is idempotent, with allowed elements and attributes only, for any input', () => {
  const pieces = fc.constantFrom(
    '<p>', '</p>', '<a href="#h-1">', '<a href="x">', '<p onclick="x">', '<script>', '"', '>', '<', ' onclick="x"',
    'text', '&lt;', '<!--', '<p title="<img src=x>">', '\0',
  ); // prettier-ignore
  const html = fc.oneof(
    fc.array(pieces, { maxLength: 12 }).map((all) => all.join('')),
    fc.string(),
  );
  fc.assert(
    fc.property(html, (given) => {
      const inert = toInertHtml(given);
      if (inert === undefined) return;
      assert.equal(toInertHtml(inert), inert);
      assert.doesNotMatch(inert, /<[^>]*(?:script|onclick|title|href="[^#])/);
    }),
    { numRuns: propertyRuns(500) },
  );
});

test('a large body is checked in one pass', () => {
  const body = `<p class="a">${'x'.repeat(200)}</p>\n`.repeat(50_000);
  const start = cpuMs();
  assert.equal(toInertHtml(body), body);
  assert.ok(cpuMs() - start < 2_000);
  assert.equal(toInertHtml(`<p ${'a '.repeat(100_000)}`), undefined);
  assert.equal(toInertHtml(`<p${' a="b"'.repeat(50_000)}`), undefined);
});

test('a saved report allows its own style sheet by hash, and nothing else', () => {
  const html = toSavedHtml({ ...page, title: 'a <b> "c" & d', language: 'ja' }) ?? '';
  const hash = createHash('sha256').update('body{color:red}').digest('base64');
  const policy = /<meta http-equiv="Content-Security-Policy" content="([^"]*)">/.exec(html)?.[1];
  assert.equal(
    policy,
    `default-src 'none'; style-src 'sha256-${hash}'; style-src-attr 'unsafe-inline'; base-uri 'none'; form-action 'none'`,
  );
  assert.ok(html.indexOf('Content-Security-Policy') < html.indexOf('<style>'), 'the policy comes first');
  assert.match(html, /<html lang="ja">/);
  assert.match(html, /<title>a &lt;b&gt; &quot;c&quot; &amp; d<\/title>/);
  assert.doesNotMatch(html, /<script|src=|@import|url\(/);
});
