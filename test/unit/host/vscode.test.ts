import assert from 'node:assert/strict';
import { test } from 'node:test';
import manifest from '../../../package.json' with { type: 'json' };
import { supportedVersions } from '../../host/vscode.ts';

test('package.json accepts exactly the VS Code versions from the oldest tested one', () => {
  const [major, minor] = supportedVersions.oldest.split('.');
  assert.equal(manifest.engines.vscode, `^${major}.${minor}.0`);
});
