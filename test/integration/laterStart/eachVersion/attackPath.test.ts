import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, describe, it } from 'mocha';
import * as vscode from 'vscode';
import { showAttackPath } from '../../../../src/editor/findings/code/attackPath.ts';
import { eventually, readWithin, untilEqual } from '../../../host/workbench/eventually.ts';
import { invent } from '../../../unit/findings/shownFindings.ts';
import { folder as shop } from '../../openFolders.ts';
import { shopFinding } from '../workspace.ts';
import { pick } from '../../dialogs.ts';
import { storeOfFindings } from '../../doubles.ts';

interface Input {
  readonly contextValue: string;
  resolve(): Promise<{ readonly provider: vscode.TreeDataProvider<object>; readonly message?: string }>;
}

describe('the attack path of a finding', () => {
  before(async () => {
    const orders = vscode.Uri.file(path.join(shop, 'src', 'orders.js'));
    // The window may still be reading them.
    await eventually(
      () => vscode.languages.getDiagnostics(orders),
      ({ length }) => length > 0,
    );
  });

  after(async () => {
    await vscode.commands.executeCommand('references-view.clear');
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  const input = (): Input | undefined => {
    const view = vscode.extensions.getExtension<{ getInput(): Input | undefined } | undefined>(
      'vscode.references-view',
    );
    return view?.isActive === true ? view.exports?.getInput() : undefined;
  };
  const show = async (): Promise<Input> => {
    await vscode.commands.executeCommand('whitebox.showAttackPath', {
      ...shopFinding(0),
    });
    const shown = await eventually(
      () => input(),
      (each) => each?.contextValue === 'whitebox.attackPath',
    );
    return shown!;
  };

  it("opens in the References view, with the service's text for each step", async () => {
    const { provider, message } = await (await show()).resolve();
    assert.equal(message, 'SQL from a request');
    const lines: string[] = [];
    for (const step of (await provider.getChildren()) ?? []) {
      const { label, description } = await provider.getTreeItem(step);
      lines.push(`${label as string} | ${description as string}`);
    }
    assert.deepEqual(lines, [
      '1. Source: the query | src/orders.js:2',
      '2. the request comes in here | src/server.js:1',
      '3. Sink | src/server.js:3',
    ]);
  });

  it('F154 is walked through all locations, with and without a role, by F4 and Shift+F4, in a circle', async () => {
    const here = (): Promise<string> => {
      const { document, selection } = vscode.window.activeTextEditor ?? {};
      const name = document?.uri.path.split('/').at(-1) ?? '';
      return Promise.resolve(`${name}:${String((selection?.active.line ?? -1) + 1)}`);
    };
    await show();
    await untilEqual(here, 'orders.js:2');
    for (const [command, at] of [
      ['next', 'server.js:1'],
      ['next', 'server.js:3'],
      ['next', 'orders.js:2'],
      ['prev', 'server.js:3'],
    ] as const) {
      // The view continues from its selected row, which it selects after opening the location; an
      // earlier key has no effect.
      await eventually(
        async () => {
          await vscode.commands.executeCommand(`references-view.${command}`);
          return readWithin(2000, async () => ((await here()) === at ? at : undefined));
        },
        (reached) => reached === at,
      );
    }
  });

  it('is offered as a list if there is no References view, or if no step is in the workspace', async () => {
    const locations = [
      { path: 'src/gone.js', startLine: 3, role: 'sink' as const },
      { path: 'src/in.js', label: 'a $(shield) name', role: 'source' as const },
    ];
    const offered = pick();
    const shown = invent({ title: 'Invented' });
    // Details have more locations than are looked up.
    const details = { ...shown.details, locations: [...locations, { path: 'src/later.js', role: 'sink' }] };
    const withDetails = ([found]: readonly object[]): unknown => Promise.resolve([{ ...found, details }]);
    const store = storeOfFindings([], { withDetails });
    await showAttackPath({ ...shown, finding: { ...shown.finding, locations } }, store);
    assert.deepEqual(
      offered.flat().map(({ label, description }) => `${label} | ${description ?? ''}`),
      [
        '1. Source: a $\u2060(shield) name | src/in.js · not in this workspace',
        '2. Sink | src/gone.js:3 · not in this workspace',
        '3. Sink | src/later.js',
      ],
    );
  });
});
