import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  findTracker,
  newAdvisoryAddress,
  newIssueAddress,
  readTracker,
} from '../../../../src/core/findings/importExport/issueTracker.ts';

const locationOf = (remote: string): string | undefined => {
  const tracker = readTracker(remote);
  return tracker && `${tracker.kind} ${tracker.host}/${tracker.repository}`;
};

test('the issue tracker of a git remote is known from every URL form, without credentials', () => {
  const remotes = {
    'https://github.com/acme/shop.git': 'github github.com/acme/shop',
    'https://user:secret@github.com/acme/shop': 'github github.com/acme/shop',
    'git@github.com:acme/shop.git': 'github github.com/acme/shop',
    'git@github.com-work:acme/shop.git': 'github github.com/acme/shop',
    'git@gitlab.xn--p1ai:acme/shop': 'gitlab gitlab.xn--p1ai/acme/shop',
    'ssh://git@gitlab.com_home:22/acme/shop': 'gitlab gitlab.com/acme/shop',
    'ssh://git@gitlab.example.test:2222/team/web/shop.git/': 'gitlab gitlab.example.test/team/web/shop',
    'https://gitlab.example.test:8443/team/shop.git': 'gitlab gitlab.example.test:8443/team/shop',
  };
  for (const [remote, location] of Object.entries(remotes)) assert.equal(locationOf(remote), location);
});

test('a remote with an unknown or misleading tracker has none', () => {
  const remotes = [
    '',
    '/home/dev/shop',
    'C:\\shop',
    'file:///srv/shop.git',
    'https://example.test/acme/shop',
    'https://github.com/acme',
    'https://github.com/acme/shop/x',
    'https://github.com/../shop',
    'https://github.com@hostile.example.test/acme/shop',
    'git@github.com:acme/$(x)',
    'ext::sh -c github.com/acme/shop',
    'javascript://github.com/acme/shop',
  ];
  for (const remote of remotes) assert.equal(locationOf(remote), undefined, remote);
});

test('an issue is offered on known hosts and on those that there are', async () => {
  const alias = 'git@github.work:a/b';
  const [web, ours] = ['https://github.com-work/a/b', 'git@gitlab.acme.test:a/b'];
  const asked: string[] = [];
  const find = (...remotes: readonly string[]) =>
    findTracker(remotes, (host) => Promise.resolve((asked.push(host), host === 'gitlab.acme.test')));
  assert.equal((await find(alias, web, ours))?.host, 'gitlab.acme.test');
  assert.equal(await find(alias), undefined);
  assert.equal((await find('git@github.com-work:a/b', ours))?.host, 'github.com');
  assert.deepEqual(asked, ['github.work', 'github.com-work', 'gitlab.acme.test', 'github.work']);
});

test('any title is kept, and only GitHub accepts private reports', () => {
  const title = 'SQL & <b>#1?</b> 100% (WB-1)';
  const [github, gitlab] = ['github', 'gitlab'].map((name) => readTracker(`https://${name}.com/a/b`)!);
  const issue = new URL(newIssueAddress(github!, title));
  assert.equal(`${issue.origin}${issue.pathname}`, 'https://github.com/a/b/issues/new');
  assert.equal(issue.searchParams.get('title'), title);
  const issueOf = /^https:\/\/gitlab\.com\/a\/b\/-\/issues\/new\?issue%5Btitle%5D=SQL/;
  assert.match(newIssueAddress(gitlab!, title), issueOf);
  assert.equal(newAdvisoryAddress(github!), 'https://github.com/a/b/security/advisories/new');
  assert.equal(newAdvisoryAddress(gitlab!), undefined);
});
