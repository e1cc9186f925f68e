import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'mocha';
import * as vscode from 'vscode';
import { AssessmentError } from '../../../../src/core/errors.ts';
import { systemClock as clock } from '../../../../src/core/ports.ts';
import { Accounts } from '../../../../src/editor/account/accounts.ts';
import {
  copyDiagnostics,
  keepLines,
  type RecentLog,
} from '../../../../src/editor/account/copyDiagnostics.ts';
import { silent } from '../../../silentLog.ts';
import { runOf } from '../../../unit/run/sampleRuns.ts';
import { startService } from '../../../service/assessmentService.ts';
import { afterTest, messages } from '../../dialogs.ts';
import { partly, storeOfRuns } from '../../doubles.ts';
import { inRestrictedMode } from '../../restrictedMode.ts';
import { dist } from '../../shownRuns.ts';
import { call } from '../../signedIn.ts';
import { setUserSettings } from '../../userSettings.ts';

const settings = {
  'whitebox.baseUrl': {},
  'whitebox.organizationId': {},
  'whitebox.tokenCommand': {},
  'whitebox.archive.format': { enum: ['tar_gz', 'zip'] },
  'whitebox.archive.maxSizeMB': {},
};

describe('the diagnostics', () => {
  let log: RecentLog;

  beforeEach(async () => {
    const channel = { logLevel: vscode.LogLevel.Info, dispose: () => undefined };
    log = keepLines(partly<vscode.LogOutputChannel>({ ...channel, ...silent }));
    await setUserSettings({
      'whitebox.baseUrl': 'https://assess.example.test/v1',
      'whitebox.organizationId': 'invented-organization',
      'whitebox.tokenCommand': ['/opt/invented/tool', '--for=me'],
      'whitebox.archive.format': 'zip',
    });
  });

  afterEach(() => vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor'));

  /** The service answers the check like this. */
  const shown = async (check: () => Promise<void> = () => Promise.resolve()): Promise<string> => {
    await copyDiagnostics({
      accounts: partly<Accounts>({ check }),
      runs: storeOfRuns(runOf.running, runOf.succeeded, runOf.running),
      log,
      secretWorkerFile: dist('secretWorker.cjs'),
      version: '1.2.3',
      settings,
    });
    return vscode.window.activeTextEditor?.document.getText() ?? '';
  };

  it('F46 take lines after the window has closed the log, as of a start request that is answered late', () => {
    const channel = vscode.window.createOutputChannel('Invented', { log: true });
    const closed = keepLines(channel);
    closed.dispose();
    assert.throws(() => channel.error('closed'));
    closed.info('late');
    closed.error('late');
  });

  it('name versions, changed settings without free text, runs by state, and the last lines of the log', async () => {
    const token = `ghp_${'h7Xq2Lm9Tz4K'.repeat(3)}`;
    const folder = vscode.workspace.workspaceFolders?.[0];
    log.debug('below the level');
    for (let line = 1; line <= 60; line += 1) log.info(`line ${String(line)}`);
    log.warn(`${'x'.repeat(950)} in ${runOf.running.targets[0]?.folder ?? ''}/a.js`);
    log.warn(
      `${folder?.uri.fsPath ?? ''}/src of invented-organization at https://assess.example.test: ${token}`,
    );
    const text = await shown();
    assert.match(text, /^Versions\n {2}Whitebox Assessment: 1\.2\.3\n {2}VS Code: \d/);
    assert.match(
      text,
      /\n {2}whitebox\.baseUrl: set\n {2}whitebox\.organizationId: set\n {2}whitebox\.tokenCommand: entries: 2\n {2}whitebox\.archive\.format: zip\n/,
    );
    assert.doesNotMatch(text, /maxSizeMB|\/opt|--for|below the level|line 12\n/);
    assert.match(text, /\nService\n {2}works\n/);
    assert.match(text, /\nRuns by state\n {2}running: 2\n {2}succeeded: 1\n/);
    assert.match(text, /line 13\n[^]* {2}\S+Z \[info\] line 60\n/);
    assert.ok(
      text.includes(`[warn] [${folder?.name ?? ''}]/src of [organization] at [service]: ghp_…`),
      text,
    );
    assert.match(text, /x{950} in \[folder of a r\n/);
    assert.doesNotMatch(text, /h7Xq2L|invented-organization|assess\.example/);
  });

  it('say of each operation that failed its status, its kind, and the service’s ID of the request', async () => {
    const service = await startService({});
    afterTest(() => service.close());
    const reply = { kind: 'reply' as const, status: 403, headers: { 'x-request-id': 'invented-request' } };
    service.addFault({ match: { path: '/cancel-upload' }, before: reply });
    const { baseUrl, organizationId } = service;
    await setUserSettings({ 'whitebox.baseUrl': baseUrl, 'whitebox.organizationId': organizationId });
    const secrets = partly<vscode.SecretStorage>({ get: () => Promise.resolve(service.token) });
    await new Accounts(secrets, { clock, log, random: () => 0.5 }).check(service, {});
    const failed =
      /\[warn\] POST input-files\/cancel-upload: HTTP 403, forbidden, request ID invented-request, \d+ ms\n/;
    assert.match(await shown(), failed);
  });

  it('say which part of the connection fails, and why, without a text of the service', async () => {
    const failing = (error: Error) => shown(() => Promise.reject(error));
    const cause = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
    const unsent = new AssessmentError('unsent', { detail: 'the network of Invented Inc.' }, { cause });
    assert.match(await failing(unsent), /\nService\n {2}fails \(network\): unsent, ECONNREFUSED\n/);
    const refused = new AssessmentError('unauthorized', { status: 401, detail: 'Hello Alice' });
    assert.match(await failing(refused), /\n {2}fails \(token\): unauthorized, 401\n/);
    const restricted = await inRestrictedMode(() => failing(unsent));
    assert.match(restricted, /\n {2}not called in Restricted Mode\n/);
  });

  it('are copied only by the button, as they are in the editor then', async () => {
    await vscode.env.clipboard.writeText('before');
    messages.press = async ({ buttons }) => {
      if (buttons.length === 0) return undefined;
      assert.equal(await vscode.env.clipboard.readText(), 'before');
      const editor = vscode.window.activeTextEditor;
      const { document } = editor ?? assert.fail();
      const all = new vscode.Range(document.positionAt(0), document.positionAt(document.getText().length));
      await editor?.edit((edit) => edit.replace(all, 'shortened'));
      return buttons[0];
    };
    await shown();
    assert.deepEqual(
      messages.shown.map(({ text, buttons }) => [text.split('.')[0], buttons]),
      [
        ['The diagnostics haven’t been copied or sent', ['Copy']],
        ['The diagnostics were copied', []],
      ],
    );
    assert.equal(await vscode.env.clipboard.readText(), 'shortened');
  });

  it('are a command of the palette', async () => {
    await call('copyDiagnostics');
    const text = vscode.window.activeTextEditor?.document.getText() ?? '';
    assert.match(text, /^Versions\n {2}Whitebox Assessment: \d/);
    assert.match(text, /\n {2}whitebox\.archive\.format: zip\n/);
  });
});
