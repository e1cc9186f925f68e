import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gitHome } from '../../../../src/core/upload/ignore/repository.ts';

test('the home folder is the one in which git looks, on Windows before the profile', () => {
  const homeOf = (env: Record<string, string>, platform: NodeJS.Platform = 'win32'): string =>
    gitHome({ platform, env, homedir: () => 'profile', isFolder: (path) => path === 'H:\\me' });
  const share = { HOMEDRIVE: 'H:', HOMEPATH: '\\me' };
  assert.equal(homeOf({ HOME: 'D:\\home', ...share }), 'D:\\home');
  assert.equal(homeOf(share), 'H:\\me');
  assert.equal(homeOf({ ...share, HOMEPATH: '\\away' }), 'profile');
  assert.equal(homeOf({ HOMEDRIVE: 'H:' }), 'profile');
  assert.equal(homeOf({}), 'profile');
  assert.equal(homeOf({ HOME: '/elsewhere' }, 'linux'), 'profile');
});
