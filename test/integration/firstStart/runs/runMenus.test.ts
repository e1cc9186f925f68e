import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, it } from 'mocha';
import * as vscode from 'vscode';
import { answer, messages, replace, shownTexts } from '../../dialogs.ts';
import { folder } from '../../openFolders.ts';
import { newRuns, ofFolder, runLines, storage } from '../../runsInStorage.ts';
import { call, rowOf, signInEachTest } from '../../signedIn.ts';
import {
  storeEndedRun,
  storeImportedRun,
  storeLiveRun,
  storeUnknownRun,
  storeUnsentRun,
} from '../../storedRuns.ts';
import { setUserSettings } from '../../userSettings.ts';

const { createInputBox } = vscode.window;

/** VS Code passes the focused row to commands in a view title, like a row to its own commands. */
describe('commands in the title and on the rows of the Runs view', () => {
  const service = signInEachTest();
  let pressed: readonly string[];
  let asked: string[];
  let typed: string | undefined;

  beforeEach(() => {
    [pressed, asked, typed] = [[], [], undefined];
    messages.press = ({ buttons }) => buttons.find((button) => pressed.includes(button));
    replace(vscode.window, {
      createInputBox: () => {
        const input = createInputBox();
        const hidden = new vscode.EventEmitter<void>();
        Object.defineProperty(input, 'onDidHide', { value: hidden.event });
        input.show = () => {
          asked.push(input.prompt ?? '');
          hidden.fire();
        };
        return input;
      },
    });
    answer({
      showInputBox: ({ title }: vscode.InputBoxOptions) => {
        asked.push(title ?? '');
        return typed;
      },
    });
  });

  const stored = (id: string) => ofFolder(id, service());
  /** Picks the entries at these positions in the next quick picks, then the first. */
  const pick = (...at: number[]): string[] => {
    const offered: string[] = [];
    answer({
      showQuickPick: (items: readonly { label: string }[]) => {
        offered.push(...items.map(({ label }) => label));
        return items[at.shift() ?? 0];
      },
    });
    return offered;
  };
  /** Starts an assessment from the menu of a subfolder; returns its local ID. */
  const assessPart = async (): Promise<string> => {
    const part = path.join(folder, 'part');
    await mkdir(part);
    await writeFile(path.join(part, 'only.js'), 'one();\n');
    pressed = ['Upload and Start'];
    await call('assessFolder', vscode.Uri.file(part));
    await rm(part, { recursive: true });
    const [id = ''] = await newRuns();
    return id;
  };
  /** Starts an assessment whose answer is lost; returns its local ID and its run ID. */
  const startUnconfirmed = async (): Promise<{ id: string; runId: string }> => {
    service().addFault({ match: { path: '/dispatch', times: 1 }, after: { kind: 'reset' } });
    const id = await assessPart();
    assert.match((await runLines(id))[0] ?? '', /^Start unconfirmed: needs your decision · /);
    pressed = [];
    return { id, runId: service().runs().at(-1)!.id };
  };

  it('sign in to the configured service whatever row is focused, and ignore imported runs', async () => {
    const imported = '20260101000000-imported';
    await storeImportedRun(storage, stored(imported));
    await call('refreshRuns');
    const shown = messages.shown.length;
    await call('signIn', rowOf(imported));
    await call('signInForRun', rowOf(imported));
    assert.equal(asked.length, 2);
    for (const prompt of asked) assert.match(prompt, /^Base URL of the assessment service/);
    assert.deepEqual(messages.shown.slice(shown), []);
  });

  for (const [where, command] of [
    ['entered on its row', 'giveRunId'],
    ['asked for in the dialog', 'resendDispatch'],
  ] as const)
    it(`continue an unconfirmed start with the ID ${where}`, async () => {
      const { id, runId } = await startUnconfirmed();
      [pressed, typed] = [['Enter Run ID…'], runId];
      await call(command, rowOf(id));
      if (command === 'resendDispatch')
        assert.deepEqual(messages.shown.at(-1)?.buttons, ['Enter Run ID…', 'Send Again', 'Stop Watching']);
      assert.match((await runLines(id))[0] ?? '', /^Running 0m: /);
    });

  it('ask whether an ID belongs to the unconfirmed start before listing the run a second time', async () => {
    const { id, runId } = await startUnconfirmed();
    const offered = pick(0);
    typed = runId;
    await call('trackRun', rowOf(id));
    assert.deepEqual(offered, [
      'Unconfirmed start of the assessment of part',
      'A run that isn’t in the Runs view',
    ]);
    assert.deepEqual(await newRuns(), [id]);
    assert.match((await runLines(id))[0] ?? '', /^Running 0m: /);
  });

  it('track another run although the row of an unconfirmed start is focused', async () => {
    const { id: forgotten, runId } = await startUnconfirmed();
    await rm(path.join(storage, 'runs', forgotten), { recursive: true });
    const id = '20260101000000-unconfirmed';
    await storeUnknownRun(storage, stored(id), { kind: 'timeout' });
    await call('refreshRuns');
    pick(1, 0);
    typed = runId;
    await call('trackRun', rowOf(id));
    assert.match((await runLines(id))[0] ?? '', /^Start unconfirmed: needs your decision · /);
    const others = (await newRuns()).filter((name) => name !== id);
    const rows = (await Promise.all(others.map((each) => runLines(each)))).map(([row = '']) => row);
    assert.ok(
      rows.some((row) => row.startsWith('Running 0m: ')),
      rows.join('\n'),
    );
  });

  it('ask before cancelling a run, with one button that keeps it running', async () => {
    const id = '20260101000000-kept';
    await storeLiveRun(storage, stored(id));
    await call('refreshRuns');
    for (const answer of ['Keep Running', undefined]) {
      pressed = answer === undefined ? [] : [answer];
      await call('cancelRun', rowOf(id));
      assert.deepEqual(messages.shown.at(-1)?.buttons, ['Cancel Run', 'Keep Running']);
    }
    assert.ok(!service().requests.some(({ path: at }) => at.endsWith('/cancel')));
    assert.match((await runLines(id))[0] ?? '', /^Running 1h 0m: /);
  });

  it('compare only runs that have findings, and explain others', async () => {
    const [ended, before, unsent] = ['ended', 'before', 'unsent'].map((name) => `20260101000000-${name}`);
    assert.ok(ended !== undefined && before !== undefined && unsent !== undefined);
    for (const id of [before, ended]) await storeEndedRun(storage, stored(id), []);
    await storeUnsentRun(storage, stored(unsent));
    await call('refreshRuns');
    const rows = [unsent, ended].map(rowOf);
    for (const args of [[rows[0]], [rows[0], rows]]) {
      const shown = messages.shown.length;
      await call('compareTheseRuns', ...args);
      const [{ text } = { text: '' }] = messages.shown.slice(shown);
      assert.match(text, /^To compare two runs, both must have findings /);
    }
  });

  it('act on no other run if their run was removed', async () => {
    const id = '20260101000000-left';
    await storeEndedRun(storage, stored(id), []);
    await call('refreshRuns');
    const commands = ['openReport', 'showRunFindings', 'downloadArtifacts', 'retryUpload', 'resendDispatch'];
    for (const command of commands) {
      const shown = messages.shown.length;
      await call(command, rowOf('20260101000000-gone'));
      const texts = messages.shown.slice(shown).map(({ text }) => text);
      assert.equal(texts.length, 1, `${command}: ${texts.join()}`);
      assert.match(texts[0] ?? '', /^This run is no longer in the Runs view/);
    }
  });

  it('remove all selected rows after one question', async () => {
    const ids = ['20260101000000-one', '20260101000000-two'];
    for (const id of ids) await storeEndedRun(storage, stored(id), []);
    await call('refreshRuns');
    pressed = ['Remove'];
    const rows = ids.map(rowOf);
    await call('removeRun', rows[0], rows);
    assert.deepEqual(await newRuns(), []);
    const questions = messages.shown.filter(({ isModal }) => isModal).map(({ text }) => text);
    assert.deepEqual(questions, ['Remove 2 runs from the history?']);
  });

  it('say where a listed ID is, and that no run with an unlisted ID is under way', async () => {
    const id = '20260101000000-listed';
    await storeEndedRun(storage, stored(id), []);
    await call('refreshRuns');
    assert.equal(messages.shown.at(-1)?.text, 'There are no runs in progress to check.');
    typed = `invented-${id}`;
    await call('trackRun');
    assert.match(
      messages.shown.at(-1)?.text ?? '',
      /^Run invented-\S+-listed is already in the Runs view: .+\.$/,
    );
    assert.deepEqual(await newRuns(), [id]);
  });

  it('show progress in the view while waiting for the service', async () => {
    const { withProgress } = vscode.window;
    const locations: unknown[] = [];
    replace(vscode.window, {
      withProgress: (options: vscode.ProgressOptions, ...rest: [never]) => {
        locations.push(options.location);
        return withProgress(options, ...rest);
      },
    });
    await storeLiveRun(storage, stored('20260101000000-asked'));
    await call('refreshRuns');
    assert.deepEqual(locations, [{ viewId: 'whitebox.runs' }]);
  });

  it('ask for a folder before sign-in or ID', async () => {
    const workspaceFolders = Object.getOwnPropertyDescriptor(vscode.workspace, 'workspaceFolders')!;
    Object.defineProperty(vscode.workspace, 'workspaceFolders', {
      ...workspaceFolders,
      get: () => undefined,
    });
    await setUserSettings({ 'whitebox.tokenCommand': undefined });
    try {
      for (const command of ['startAssessment', 'trackRun']) await call(command);
    } finally {
      Object.defineProperty(vscode.workspace, 'workspaceFolders', workspaceFolders);
    }
    const shown = messages.shown.map(({ text, severity }) => ({ text, severity }));
    const text = 'First open the folder that you want to assess.';
    assert.deepEqual(shown, Array(2).fill({ text, severity: 'Information' }));
    assert.deepEqual(asked, []);
  });

  const id = '20260101000000-handled';

  it('name a run until its name is reset, and copy its ID', async () => {
    await storeEndedRun(storage, ofFolder(id, service()), []);
    await call('refreshRuns');
    const [unnamed = ''] = await runLines(id);
    const type = async (name: string | undefined): Promise<string> => {
      answer({ showInputBox: () => name });
      await call('renameRun', rowOf(id));
      return (await runLines(id))[0] ?? '';
    };
    assert.match(await type(' Before the release '), /^Finished: Before the release · /);
    assert.match(await type(undefined), /^Finished: Before the release · /);
    assert.equal(await type(''), unnamed);
    await call('copyRunId', rowOf(id));
    assert.equal(await vscode.env.clipboard.readText(), `invented-${id}`);
  });

  it('give up a run that the service no longer knows, after the user agrees to the consequences', async () => {
    const firstSeen = Date.now() - 2 * 24 * 3_600_000;
    const trouble = { kind: 'notFound', firstSeen, deniedSince: firstSeen } as const;
    await storeLiveRun(storage, ofFolder(id, service()), trouble);
    await call('refreshRuns');
    const offered = (lines: readonly string[]): boolean =>
      lines.some((line) => line.startsWith('VS Code can’t tell whether the run has ended. Stop watching?'));
    assert.ok(offered(await runLines(id)));

    const before = messages.shown.length;
    await call('stopWatching', rowOf(id));
    const [{ text, detail, isModal, buttons } = {}, ...others] = messages.shown.slice(before);
    assert.match(text ?? '', /^Stop watching the assessment of /);
    assert.match(detail ?? '', new RegExp(`track the run again by its run ID: invented-${id}$`));
    assert.deepEqual([isModal, buttons, others], [true, ['Stop Watching'], []]);
    assert.ok(offered(await runLines(id)), 'it is watched on when the question is dismissed');

    pressed = ['Stop Watching'];
    await call('stopWatching', rowOf(id));
    const lines = await runLines(id);
    assert.match(lines[0] ?? '', /^No longer watched: /);
    assert.ok(!offered(lines));
  });

  it('assess only the folder whose menu was used, and delete its source on request', async () => {
    await setUserSettings({ 'whitebox.runs.deleteSourceAfterRun': false });
    const started = await assessPart();
    assert.equal(messages.shown[0]?.text, 'Upload 1 file of part for assessment?');
    const [sent, ...more] = service().runs();
    const names = sent?.archives.map(({ entries }) => entries.map(({ path: name }) => name));
    assert.deepEqual([names, more], [[['only.js']], []]);
    await service().finishRun(sent!.id);
    await call('refreshRuns');
    const sourceLine = async (): Promise<string> =>
      (await runLines(started)).find((line) => line.startsWith('Uploaded source of part: ')) ?? '';
    const upload = (): string | undefined => service().files()[0]?.state;
    // The notice about its end may come at any time.
    const question = (): string | undefined => messages.shown.findLast(({ isModal }) => isModal)?.text;
    assert.match(await sourceLine(), /: on the service since /);

    await call('deleteUploadedSource');
    assert.equal(question(), 'Delete the uploaded source code of part from the service?');
    assert.equal(upload(), 'confirmed', 'it stays when the question is dismissed');

    pressed = ['Delete'];
    await call('deleteUploadedSource');
    assert.ok(shownTexts().includes('The uploaded source was deleted.'));
    assert.equal(upload(), 'deleted');
    assert.match(await sourceLine(), /: deleted from the service on /);

    pressed = ['Remove'];
    await call('removeRun', rowOf(started));
    assert.deepEqual(await runLines(started), []);
  });
});
