import assert from 'node:assert/strict';
import { join, resolve, win32 } from 'node:path';
import { test } from 'node:test';
import { readIgnoreSettings } from '../../../../src/core/upload/ignore/gitConfig.ts';
import {
  findRepository,
  gitHome,
  isOnOtherHost,
  repositoryAt,
} from '../../../../src/core/upload/ignore/repository.ts';
import { plant, plantRepository, testTree } from '../trees.ts';

const home = 'C:\\Users\\me';
const wsl = '\\\\wsl.localhost\\Ubuntu\\home\\me\\app\\vendor\\lib';

test('a path on the share of the folder or the home is local', () => {
  const is = (path: string, known: string[]): boolean => isOnOtherHost(path, known, 'win32');
  const gitDir = win32.resolve(wsl, '../../.git/modules/vendor/lib');
  assert.equal(gitDir, '\\\\wsl.localhost\\Ubuntu\\home\\me\\app\\.git\\modules\\vendor\\lib');
  assert.equal(is(gitDir, [wsl, home]), false);
  assert.equal(is('//WSL.LocalHost/ubuntu/home', [wsl, home]), false);
  assert.equal(is('\\\\srv\\homes\\me\\.rules', ['D:\\app', '\\\\SRV\\Homes\\me']), false);
  assert.equal(is('C:\\other', [wsl, home]), false);
});

test('a path on another host or share is remote, on Windows', () => {
  const other = [
    '\\\\evil.example\\share\\x', '//evil.example/share/x', '/\\evil.example/share',
    '\\\\wsl.localhost\\Debian\\home', '\\\\wsl.localhost.evil.example\\Ubuntu\\home', '\\\\evil.example',
    '\\\\?\\UNC\\evil.example\\share\\x', '\\\\.\\pipe\\x', '//?/C:/x',
  ]; // prettier-ignore
  for (const path of other) {
    assert.equal(isOnOtherHost(path, [wsl, home], 'win32'), true, path);
    assert.equal(isOnOtherHost(path, ['\\\\?\\UNC\\srv\\share', '\\\\.\\pipe\\y'], 'win32'), true, path);
    assert.equal(isOnOtherHost(path, [wsl, home], 'linux'), false, path);
  }
});

test('a repository with its git folder elsewhere is a repository, and nothing is read from there', async (t) => {
  const at = testTree(t);
  const away = join(at.home, 'away');
  const isElsewhere = (path: string, known: readonly string[]): boolean => {
    assert.ok(known.includes(at.home));
    return path.startsWith(away);
  };
  plant(at.root, {
    'file/.git': `gitdir: ${away}/git\n`,
    'file/x': '',
    'linked/.git/commondir': `${away}/git\n`,
    'linked/.git/HEAD': 'ref: refs/heads/main\n',
  });
  const surroundings = { ...at.surroundings, isOnOtherHost: isElsewhere };
  for (const name of ['file', 'linked']) {
    const folder = join(at.root, name);
    const found = await repositoryAt(folder, surroundings);
    assert.deepEqual([found?.root, found?.commonDir], [folder, join(away, 'git')]);
    assert.equal((await findRepository(folder, surroundings))?.root, folder);
    await assert.rejects(readIgnoreSettings(found, surroundings), {
      kind: 'sourceUnreadable',
      data: { subject: join(away, 'git'), detail: 'EREMOTE' },
    });
    assert.equal(await repositoryAt(folder, at.surroundings), undefined);
  }
});

test('rules and included configuration on another host are an error', async (t) => {
  const at = testTree(t);
  plantRepository(at.root);
  const repository = await repositoryAt(at.root, at.surroundings);
  const away = resolve(at.home, '/away');
  const isElsewhere = (path: string, known: readonly string[]): boolean =>
    path.startsWith(away) && known.includes(at.root) && known.includes(at.home);
  for (const config of [
    '[core]\n\texcludesFile = /away/rules\n',
    '[include]\n\tpath = /away/config\n',
    '[includeIf "onbranch:main"]\n\tpath = /away/config\n',
    '[includeIf "onbranch:main"]\n\tpath = here\n',
  ]) {
    plant(at.home, { '.gitconfig': config, here: '[core]\n\texcludesFile = /away/rules\n' });
    const subject = join(away, config.includes('config') ? 'config' : 'rules');
    await assert.rejects(readIgnoreSettings(repository, { ...at.surroundings, isOnOtherHost: isElsewhere }), {
      kind: 'sourceUnreadable',
      data: { subject, detail: 'EREMOTE' },
    });
    await readIgnoreSettings(repository, at.surroundings);
  }
});
test('the home folder is the one git uses, on Windows before the profile', () => {
  const homeOf = (env: Record<string, string>, platform: NodeJS.Platform = 'win32'): string =>
    gitHome(platform, env, 'profile', (path) => path === 'H:\\me');
  const share = { HOMEDRIVE: 'H:', HOMEPATH: '\\me' };
  assert.equal(homeOf({ HOME: 'D:\\home', ...share }), 'D:\\home');
  assert.equal(homeOf(share), 'H:\\me');
  assert.equal(homeOf({ ...share, HOMEPATH: '\\away' }), 'profile');
  const lost = (): never => {
    throw Object.assign(new Error('no answer'), { code: 'UNKNOWN' });
  };
  assert.equal(gitHome('win32', share, 'profile', lost), 'profile', 'F176');
  assert.equal(homeOf({ HOMEDRIVE: 'H:' }), 'profile');
  assert.equal(homeOf({}), 'profile');
  assert.equal(homeOf({ HOME: '/elsewhere' }, 'linux'), 'profile');
});
