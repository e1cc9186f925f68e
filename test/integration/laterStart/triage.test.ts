import assert from 'node:assert/strict';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, it } from 'mocha';
import * as vscode from 'vscode';
import type { ShownFinding } from '../../../src/core/findings/shownFinding.ts';
import { TRIAGE_STATES, type TriageState } from '../../../src/core/findings/triage/triage.ts';
import type { TriageStore } from '../../../src/core/findings/triage/triageStore.ts';
import { extendAcceptance, watchTriage } from '../../../src/editor/findings/triage.ts';
import { eventually } from '../../host/workbench/eventually.ts';
import { answer, link, messages, pick, replace, shownTexts } from '../dialogs.ts';
import { partly, storeOfFindings } from '../doubles.ts';
import { silent } from '../../silentLog.ts';
import { invent } from '../../unit/findings/shownFindings.ts';
import { folder } from '../openFolders.ts';
import { inRestrictedMode } from '../restrictedMode.ts';
import { shopFinding, shopRunId } from './workspace.ts';

describe('triage of findings', () => {
  let shop: vscode.Uri;
  const finding = shopFinding(4);

  before(async () => {
    shop = vscode.Uri.file(folder);
    await vscode.commands.executeCommand('whitebox.showRunFindings', {
      kind: 'run',
      id: shopRunId,
    });
  });

  const setStorage = (value: string | undefined): Thenable<void> =>
    vscode.workspace
      .getConfiguration('whitebox', shop)
      .update('triage.storage', value, vscode.ConfigurationTarget.WorkspaceFolder);

  after(async () => {
    await setStorage(undefined);
    await rm(path.join(shop.fsPath, '.vscode', 'whitebox-triage'), { recursive: true, force: true });
    await decide('open');
  });

  const decide = async (state: string, note = ''): Promise<void> => {
    answer({
      showQuickPick: (items: { state: string }[]) => items.find((item) => item.state === state),
      showInputBox: () => note,
    });
    await vscode.commands.executeCommand('whitebox.setTriage', finding);
  };

  /** Returns the state and the note, as a language model tool gives them. */
  const decision = async (): Promise<string> => ask('whitebox_getFinding', { finding: await nameForTools() });

  const ask = async (tool: string, input: object): Promise<string> => {
    const { content } = await vscode.lm.invokeTool(tool, { input, toolInvocationToken: undefined });
    return content.map((part) => (part instanceof vscode.LanguageModelTextPart ? part.value : '')).join('');
  };

  const nameForTools = async (): Promise<string> => {
    const text = await ask('whitebox_listFindings', { triage: [...TRIAGE_STATES], path: 'server.js' });
    return /"finding": "([^"]+)",\s+"title": "Style/.exec(text)?.[1] ?? '';
  };

  it('shows an external title as plain text', async () => {
    await decide('confirmed', 'first');
    const [{ text } = { text: '' }] = messages.shown;
    assert.match(text, /^No impact: Style .*: Confirmed$/);
    assert.doesNotMatch(text, link);
  });

  it('undoes a decision but keeps later ones, and says so', async () => {
    const pressed: ((button: string) => void)[] = [];
    messages.press = () => new Promise((resolve) => pressed.push(resolve));
    await decide('confirmed', 'mine');
    await decide('falsePositive', 'a colleague’s');
    pressed[0]?.('Undo');
    await eventually(shownTexts, (texts) =>
      texts.includes(
        'VS Code didn’t undo the triage state of findings whose state has changed since then: 1 finding.',
      ),
    );
    assert.match(await decision(), /a colleague’s/);
    pressed[1]?.('Undo');
    await eventually(decision, (answer) => answer.includes('mine'));
  });

  it('F157 asks for the end of an accepted risk, proposes its note after the end, and can extend it', async () => {
    const acceptUntil = async (label: string, day: string): Promise<readonly unknown[]> => {
      const asked: unknown[] = [];
      answer({
        showQuickPick: (items: { state?: string; label: string }[]) =>
          items.find((item) => item.state === 'acceptedRisk' || item.label === label),
        showInputBox: (options: vscode.InputBoxOptions) => {
          asked.push(options.value);
          return asked.length === 1 ? 'behind the gateway' : (asked.push(options.validateInput?.(day)), day);
        },
      });
      await vscode.commands.executeCommand('whitebox.setTriage', finding);
      return asked;
    };
    assert.equal((await acceptUntil('90 days', '')).length, 1);
    assert.match(await decision(), /"state": "acceptedRisk"[^}]*"until": "\d{4}-\d\d-\d\d"/);
    const [, , refusal] = await acceptUntil('Until a date…', '2020-06-03');
    assert.equal(refusal, 'Enter today’s date or a later date as YYYY-MM-DD.');
    assert.match(
      await decision(),
      /"state": "open"[^}]*"note": "behind the gateway"[^}]*"until": "2020-06-03"/,
    );
    const [proposed] = await acceptUntil('No end date', '');
    assert.equal(proposed, 'behind the gateway');
    assert.match(await decision(), /"state": "acceptedRisk"/);
    assert.doesNotMatch(await decision(), /"until"/);
    pick('1 year');
    await vscode.commands.executeCommand('whitebox.extendAcceptance', finding);
    assert.match(
      await decision(),
      /"state": "acceptedRisk"[^}]*"note": "behind the gateway"[^}]*"until": "20/,
    );
  });

  it('F157 extends several acceptances at once, each with its own note, and changes no other finding', async () => {
    const found = (index: number, state: TriageState, note: string, until?: string): ShownFinding => {
      const shown = invent({ index });
      return { ...shown, triage: { state, note, at: 1, ...(until !== undefined && { until }) } };
    };
    const all = [
      found(0, 'acceptedRisk', 'one', '2999-01-01'),
      found(1, 'open', 'ended', '2020-01-01'),
      found(2, 'confirmed', 'no risk'),
      found(3, 'acceptedRisk', 'one'),
    ];
    const decided: unknown[] = [];
    const findings = storeOfFindings([], {
      setTriage: (some: readonly ShownFinding[], state: string, note: string, { until }: { until: string }) =>
        Promise.resolve(decided.push([some.map(({ finding: { index } }) => index), state, note, until])),
    });
    pick('Until a date…');
    answer({ showInputBox: () => ' 2999-12-31 ' });
    await extendAcceptance(all, { findings });
    assert.deepEqual(decided, [
      [[0, 3], 'acceptedRisk', 'one', '2999-12-31'],
      [[1], 'acceptedRisk', 'ended', '2999-12-31'],
    ]);
    await extendAcceptance([all[2]!], { findings });
    assert.deepEqual([decided.length, messages.shown.length], [2, 1]);
  });

  it('F157 reads decisions again at local midnight while an acceptance ends, and on focus', () => {
    const { setTimeout, clearTimeout } = globalThis;
    const timers: { readonly handle: unknown; readonly work: () => void; readonly ms: number }[] = [];
    const cleared: unknown[] = [];
    const focus = new vscode.EventEmitter<{ readonly focused: boolean }>();
    const changed = new vscode.EventEmitter<void>();
    const triage = {
      hasFutureEnds: false,
      reloads: 0,
      onDidChange: changed.event,
      failures: () => [],
      reload(): Promise<void> {
        this.reloads += 1;
        return Promise.resolve();
      },
    };
    replace(vscode.window, { onDidChangeWindowState: focus.event });
    // VS Code has timers, too, which must go off.
    replace(globalThis, {
      setTimeout: (work: () => void, ms: number, ...rest: []) => {
        const handle = setTimeout(work, ms, ...rest);
        timers.push({ handle, work, ms });
        return handle;
      },
      clearTimeout: (handle: NodeJS.Timeout) => {
        cleared.push(handle);
        clearTimeout(handle);
      },
    });
    const watch = watchTriage(partly<TriageStore>(triage), shop.fsPath, silent);
    const ofVsCode = timers.length;
    changed.fire();
    assert.equal(timers.length, ofVsCode);
    triage.hasFutureEnds = true;
    changed.fire();
    const { work, ms } = timers.at(-1)!;
    const due = new Date(Date.now() + ms);
    assert.deepEqual([due.getHours(), due.getMinutes(), ms <= 25 * 3_600_000], [0, 0, true]);
    work();
    assert.deepEqual([triage.reloads, timers.length], [1, ofVsCode + 2], 'and waits for the next midnight');
    focus.fire({ focused: false });
    focus.fire({ focused: true });
    assert.equal(triage.reloads, 2);
    const next = timers.at(-1)?.handle;
    watch.dispose();
    assert.ok(cleared.includes(next));
  });

  it('F84 is disabled in Restricted Mode for buttons and tools, too', async () => {
    await inRestrictedMode(async () => {
      await decide('acceptedRisk', 'unseen');
      const input = { finding: await nameForTools(), state: 'confirmed' };
      await assert.rejects(ask('whitebox_setTriage', input), /Restricted Mode/);
    });
    assert.deepEqual(shownTexts(), [
      'This isn’t available in Restricted Mode. To use it, trust this workspace.',
    ]);
    assert.doesNotMatch(await decision(), /unseen/);
  });

  it('F147 ignores a pulled decision until it is accepted; rejecting it changes no file', async () => {
    /**
     * Picks an item of the review, or presses the button of the first decision; returns all labels.
     */
    const review = async (label?: string): Promise<readonly string[]> => {
      let labels: readonly string[] = [];
      type Row = vscode.QuickPickItem & { readonly reject?: unknown };
      const answers: Record<'accept' | 'button', (event?: unknown) => void> = {
        accept: () => undefined,
        button: () => undefined,
      };
      const pick = {
        items: [] as readonly Row[],
        selectedItems: [] as readonly Row[],
        onDidAccept: (listener: () => void) => (answers.accept = listener),
        onDidTriggerItemButton: (listener: () => void) => (answers.button = listener),
        onDidHide: () => undefined,
        dispose: () => undefined,
        show: () => {
          labels = pick.items.map((item) => item.label);
          pick.selectedItems = pick.items.filter((item) => item.label === label);
          if (label !== undefined) answers.accept();
          else answers.button({ item: pick.items.find(({ reject }) => reject !== undefined) });
        },
      };
      replace(vscode.window, { createQuickPick: () => pick });
      await vscode.commands.executeCommand('whitebox.reviewSharedDecisions', shop.fsPath);
      return labels;
    };
    await setStorage('shared');
    await decide('confirmed', 'mine');
    await eventually(decision, (text) => text.includes('mine'));
    const folder = path.join(shop.fsPath, '.vscode', 'whitebox-triage');
    const [name = ''] = await readdir(folder);
    const own = await readFile(path.join(folder, name), 'utf8');
    const pull = async (alter = (text: string) => text): Promise<string> => {
      const at = `"at": ${JSON.stringify(new Date().toISOString())}`;
      const text = own.replace('mine', 'a colleague’s').replace('"confirmed"', '"falsePositive"');
      await writeFile(path.join(folder, 'pulled.json'), alter(text.replace(/"at": "[^"]*"/, at)));
      return readFile(path.join(folder, 'pulled.json'), 'utf8');
    };
    const proposal = 'False positive — No impact: Style [here](command:workbench.action.quit)';
    const reviewed = (label?: string): Promise<readonly string[]> =>
      eventually(
        () => review(label),
        (labels) => labels.length > 0,
      );
    const pulled = await pull();
    assert.deepEqual(await reviewed(), ['Accept', 'Reject', 'New: 1', proposal]);
    assert.doesNotMatch(await decision(), /falsePositive/);
    assert.equal(await readFile(path.join(folder, 'pulled.json'), 'utf8'), pulled);
    assert.deepEqual(await review(), [], 'the rejected one is not listed again');
    await pull();
    assert.deepEqual(await reviewed('Accept'), ['Accept', 'Reject', 'New: 1', proposal]);
    assert.match(await decision(), /falsePositive[^]*a colleague’s/);
    await pull((text) => text.replaceAll(/"(name|file|fingerprint)": "..../g, '"$1": "ffff'));
    assert.deepEqual(await reviewed(), ['Reject', 'No finding: 1', 'False positive']);
    await pull((text) => text.replace('"falsePositive"', '"acceptedRisk", "until": "2999-12-31"'));
    assert.match((await reviewed()).at(-1) ?? '', /^Accepted risk until December 31, 2999 — No impact: /);
    await pull();
    await inRestrictedMode(() => review('Accept'));
    assert.match(messages.shown.at(-1)?.text ?? '', /Restricted Mode/);
  });

  it('offers to share the decisions that were made before', async () => {
    await setStorage(undefined);
    const folder = path.join(shop.fsPath, '.vscode', 'whitebox-triage');
    await rm(folder, { recursive: true, force: true });
    await decide('falsePositive', 'made before');
    messages.press = ({ buttons }) => buttons.find((button) => button === 'Share Existing Decisions');
    await setStorage('shared');
    // Decisions are written one after another.
    await eventually(
      async () => {
        const names = await readdir(folder).catch(() => []);
        return Promise.all(names.map((name) => readFile(path.join(folder, name), 'utf8')));
      },
      (texts) => texts.some((text) => text.includes('made before')),
    );
    await eventually(decision, (answer) => answer.includes('made before'));
  });
});
