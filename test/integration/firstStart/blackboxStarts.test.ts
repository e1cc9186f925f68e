import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'mocha';
import * as vscode from 'vscode';
import { type AssessmentService, startService } from '../../service/assessmentService.ts';
import type { LoggedRequest } from '../../service/httpServer.ts';
import {
  type InventedApplication,
  startInventedApplication,
} from '../../service/blackbox/inventedApplication.ts';
import { type MessageWatch, type ShownMessage, watchMessages } from '../messages.ts';
import { openFolders } from '../openFolders.ts';
import { call, signIn } from '../signedIn.ts';
import { resetUserSettings } from '../userSettings.ts';

const { showInputBox, showQuickPick } = vscode.window;

describe('starting a blackbox run', () => {
  let folder: string;
  let service: AssessmentService;
  let application: InventedApplication;
  let messages: MessageWatch;
  let press: (message: ShownMessage) => string | undefined;
  let file: string;
  let inputs: string[];

  before(async () => {
    [folder = ''] = await openFolders(1);
    file = path.join(folder, 'starts.blackbox.json');
    service = await startService();
    application = await startInventedApplication();
  });

  beforeEach(async () => {
    press = () => undefined;
    inputs = [];
    messages = watchMessages((message) => press(message));
    Object.assign(vscode.window, {
      showInputBox: (options: vscode.InputBoxOptions) => {
        inputs.push(options.title ?? '');
        if (options.password === true)
          return Promise.resolve(
            application.credentials.find(({ id }) => options.title?.includes(id))?.password,
          );
        return Promise.resolve(options.value);
      },
    });
    await signIn(service);
  });

  afterEach(async () => {
    messages.end();
    Object.assign(vscode.window, { showInputBox, showQuickPick });
    await resetUserSettings();
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await rm(file, { force: true });
  });

  after(async () => {
    await application.close();
    await service.close();
  });

  const write = async (change: object = {}): Promise<vscode.Uri> => {
    const credentials = application.credentials.map(({ id, role }) => ({ id, role }));
    const content = {
      target_urls: [`${application.origin}/`],
      oos_urls: [`${application.origin}/logout`],
      authentication: { credentials },
      crawl: { credit_limit: 20 },
      assessment: { scan_credit_limit: 50, crawl_credit_limit: 20 },
      ...change,
    };
    await writeFile(file, JSON.stringify(content, undefined, 2));
    return vscode.Uri.file(file);
  };
  const question = (): ShownMessage | undefined => messages.shown.find(({ isModal }) => isModal);
  const dispatches = (): readonly LoggedRequest[] =>
    service.requests.filter(({ path: at }) => at.endsWith('/dispatch'));

  it('asks once, with everything that is sent, and sends nothing when the question is dismissed', async () => {
    await call('startCrawl', await write());
    assert.deepEqual(
      messages.shown.map(({ isModal }) => isModal),
      [true],
    );
    const { text, detail, buttons } = question()!;
    assert.equal(text, `Crawl ${new URL(application.origin).host}?`);
    assert.deepEqual(buttons, ['Start Crawl', 'Show Exact Request']);
    assert.ok(detail.includes(`${application.origin} (first time from this machine)`), detail);
    assert.match(detail, /target URLs: 1 · out-of-scope URLs: 1 · roles: 2 · DO: 0 · DONT: 0/);
    assert.match(detail, /Credits: at most 20/);
    assert.match(detail, /no security testing/);
    assert.match(detail, /ownership/);
    assert.match(detail, /The passwords of 2 logins go along/);
    assert.equal(dispatches().length, 0);
  });

  it('shows the exact request without a password, and then sends it with the passwords', async () => {
    let shows = 0;
    press = ({ buttons }) => {
      if (buttons.includes('Show Exact Request')) return shows++ === 0 ? 'Show Exact Request' : 'Start Crawl';
      return buttons.find((button) => button === 'Ask Again…');
    };
    await call('startCrawl', await write());
    const shown = vscode.workspace.textDocuments.find(({ uri }) => uri.scheme === 'whitebox-request');
    const body = shown?.getText() ?? '';
    for (const { password } of application.credentials) assert.ok(!body.includes(password));
    assert.match(body, /"password": "••••"/);
    assert.equal(dispatches().length, 1);
    const [sent] = dispatches();
    const passwords = application.credentials.map(({ password }) => password);
    assert.deepEqual(
      JSON.parse(body.replaceAll('••••', '')),
      JSON.parse(passwords.reduce((text, each) => text.replace(each, ''), JSON.stringify(sent?.body))),
    );
  });
});
