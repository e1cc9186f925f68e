import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, it } from 'mocha';
import * as vscode from 'vscode';
import { untilEqual } from '../../../host/workbench/eventually.ts';
import { folder } from '../../openFolders.ts';
import { type RecordingServer, startRecording } from '../../network/recordingServer.ts';
import { ofFolder, storage } from '../../runsInStorage.ts';
import { call, signInEachTest } from '../../signedIn.ts';
import { storeLiveRun } from '../../storedRuns.ts';
import { printing, setUserSettings } from '../../userSettings.ts';

const testConnection = (): Thenable<unknown> => call('testConnection');

describe('the destination of code and tokens', () => {
  const service = signInEachTest();
  let other: RecordingServer;
  let otherUrl: string;

  /** Polls of runs are omitted, because they come by themselves, too. */
  const calls = (): string[] => answers().filter((each) => !each.startsWith('describe'));
  const polls = (): string[] => answers().filter((each) => each.startsWith('describe'));
  const answers = (): string[] =>
    service().requests.map(({ path: name, status }) => `${path.basename(name)} ${String(status)}`);
  const accepted = ['get-upload-url 200', 'cancel-upload 200'];

  beforeEach(async () => {
    other = await startRecording();
    // An earlier service may have had this port, and its token is still saved. Services are never
    // addressed as localhost.
    otherUrl = `http://localhost:${other.port}/v1`;
  });

  afterEach(() => other.close());

  describe('in a folder whose settings change it', () => {
    const settingsFile = (): string => path.join(folder, '.vscode', 'settings.json');
    const traceOfCommand = (): string => path.join(folder, 'command-was-run');
    const language = (): string | undefined =>
      vscode.workspace.getConfiguration('whitebox').get<string>('report.language');

    beforeEach(async () => {
      const touch = `require('fs').writeFileSync(${JSON.stringify(traceOfCommand())}, '')`;
      const settings = {
        'whitebox.baseUrl': otherUrl,
        'whitebox.organizationId': 'hostile-organization',
        'whitebox.tokenCommand': [process.execPath, '-e', `${touch}; process.stdout.write('hostile')`],
        // A setting that a workspace may override shows that its settings were read.
        'whitebox.report.language': 'japanese',
      };
      await mkdir(path.dirname(settingsFile()), { recursive: true });
      await writeFile(settingsFile(), JSON.stringify(settings));
      await untilEqual(language, 'japanese');
    });

    afterEach(async () => {
      await rm(settingsFile());
      await untilEqual(language, 'auto');
    });

    it('F82 without user settings, nothing is sent or run', async () => {
      const account = ['baseUrl', 'organizationId', 'tokenCommand'];
      await setUserSettings(Object.fromEntries(account.map((name) => [`whitebox.${name}`, undefined])));
      await testConnection();
      assert.deepEqual(other.requests, []);
      assert.equal(existsSync(traceOfCommand()), false);
    });

    it('F82 calls go to the service of the user settings', async () => {
      await testConnection();
      assert.deepEqual(calls(), accepted);
      assert.deepEqual(other.requests, []);
      assert.equal(existsSync(traceOfCommand()), false);
    });
  });

  describe('when the user changes it', () => {
    beforeEach(async () => {
      await testConnection();
      assert.deepEqual(calls(), accepted);
      await setUserSettings({ 'whitebox.tokenCommand': undefined });
    });

    it('F83 a saved token is sent only to its origin and organization', async () => {
      await setUserSettings({ 'whitebox.baseUrl': otherUrl });
      await testConnection();
      assert.deepEqual(other.requests, []);

      await setUserSettings({
        'whitebox.baseUrl': service().baseUrl,
        'whitebox.organizationId': 'another-organization',
      });
      await testConnection();
      assert.deepEqual(calls(), accepted);

      await setUserSettings({ 'whitebox.organizationId': service().organizationId });
      await testConnection();
      assert.deepEqual(calls(), [...accepted, ...accepted]);
    });

    it('F83 a run keeps its origin and its token', async () => {
      await storeLiveRun(storage, ofFolder('20260101000000-live', service()));
      await setUserSettings({
        'whitebox.baseUrl': otherUrl,
        'whitebox.tokenCommand': printing('invented-other-token'),
      });
      // The service does not know the invented run; only with its own token does it say so.
      await call('refreshRuns');
      assert.deepEqual(new Set(polls()), new Set(['describe 404']));

      // The other origin's token would be accepted here from now on.
      service().setTokens(['invented-other-token']);
      await call('refreshRuns');
      assert.equal(polls().at(-1), 'describe 401');
      assert.deepEqual(calls(), accepted);
      assert.deepEqual(other.requests, []);
    });
  });
});
