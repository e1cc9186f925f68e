import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'mocha';
import * as vscode from 'vscode';
import { toBundle, zipBundle } from '../../../src/core/findings/importExport/bundle.ts';
import { untilEqual } from '../../host/workbench/eventually.ts';
import { sourceOf } from '../../unit/findings/importExport/exportingFindings.ts';
import { afterTest, answer, messages, shownTexts, temporaryFolder } from '../dialogs.ts';
import { folder } from '../openFolders.ts';
import { newRuns, runLines } from '../runsInStorage.ts';
import { call } from '../signedIn.ts';

describe('an imported bundle', () => {
  it('has decisions that count only once they are taken over', async () => {
    const items = [{ title: 'Decided elsewhere', severity: 'high', file: 'decided.js', line: 1 }];
    const decision = { state: 'falsePositive', note: 'decided on another machine', at: 1 } as const;
    const findings = { path: 'findings.json', content: Buffer.from(JSON.stringify(items)) };
    const bundle = path.join(await temporaryFolder(), 'decided.zip');
    const assessed = path.join(folder, 'decided.js');
    await writeFile(assessed, 'one();\n');
    afterTest(() => rm(assessed));
    await writeFile(
      bundle,
      zipBundle(
        toBundle(
          sourceOf(items, () => decision),
          [findings],
        ),
      ),
    );
    answer({
      showOpenDialog: () => [vscode.Uri.file(bundle)],
      showQuickPick: ([first]: unknown[]) => first,
    });
    for (const [pressed, problems] of [
      ['Leave Findings Open', 1],
      ['Import Decisions', 0],
    ] as const) {
      messages.press = ({ buttons }) => buttons.find((button) => button === pressed);
      await call('importFindings');
      await untilEqual(() => vscode.languages.getDiagnostics(vscode.Uri.file(assessed)).length, problems);
    }
    const question = 'The file also contains triage decisions with notes for 1 finding. Import them?';
    assert.equal(shownTexts().filter((text) => text === question).length, 2);
    const [imported = ''] = await newRuns();
    assert.match((await runLines(imported))[0] ?? '', /^Imported: .*decided\.zip/);
  });
});
