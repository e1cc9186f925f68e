import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { before, describe, it } from 'mocha';
import * as vscode from 'vscode';
import {
  hasTokenCommand,
  readAssessmentSettings,
  readDeleteSourceAfterRun,
  readDestination,
  readDisplaySettings,
  readRetainLocalDays,
} from '../../../src/editor/settings.ts';
import { untilEqual } from '../../host/workbench/eventually.ts';
import { folder, secondFolder } from '../openFolders.ts';
import { storage } from '../runsInStorage.ts';
import { setUserSettings } from '../userSettings.ts';

it('F25 what a killed window left of an archive that it saved is removed at the next start', () =>
  untilEqual(() => readdir(path.join(storage, 'saving')), []));

describe('settings in a workspace of two folders', () => {
  let shop: vscode.Uri;
  let many: vscode.Uri;

  before(() => {
    shop = vscode.Uri.file(folder);
    many = vscode.Uri.file(secondFolder);
  });

  it('apply to a folder in the order folder, workspace, user', () => {
    const pick = (folder: vscode.Uri): unknown => {
      const { language, archiveType, exclude } = readAssessmentSettings(folder);
      return { language, archiveType, exclude };
    };
    const exclude = [[], ['*.log']];
    assert.deepEqual(pick(shop), {
      language: 'japanese',
      archiveType: 'zip',
      exclude: [...exclude, ['fixtures/']],
    });
    assert.deepEqual(pick(many), { language: 'japanese', archiveType: 'tar_gz', exclude });
  });

  it('F5 F82 pattern lists of workspace and folder add to the user’s list', async () => {
    await setUserSettings({ 'whitebox.archive.exclude': ['*.pem', 'customers/'] });
    assert.deepEqual(readAssessmentSettings(shop).exclude, [
      ['*.pem', 'customers/'],
      ['*.log'],
      ['fixtures/'],
    ]);
  });

  it('count as unset if they are mistyped: days to keep runs, and the minimum severity', async () => {
    for (const [typed, days, level, severity] of [
      [30, 30, 'high', 'high'],
      [0, 90, 'High', 'none'],
      ['30 days', 90, undefined, 'none'],
    ] as const) {
      await setUserSettings({
        'whitebox.runs.retainLocalDays': typed,
        'whitebox.findings.minimumSeverity': level,
      });
      assert.deepEqual([readRetainLocalDays(), readDisplaySettings().minimumSeverity], [days, severity]);
    }
  });

  it('F82 about destination and deletion cannot be set by a folder or workspace', () => {
    assert.equal(readDestination(), undefined);
    assert.equal(hasTokenCommand(), false);
    assert.equal(readDeleteSourceAfterRun(), true);
    assert.equal(readDisplaySettings().notifications, 'all');
    for (const folder of [shop, many]) {
      const { webhookEndpointIds, includeNestedRepositories, maxArchiveBytes } =
        readAssessmentSettings(folder);
      assert.deepEqual(
        { webhookEndpointIds, includeNestedRepositories, maxArchiveBytes },
        { webhookEndpointIds: [], includeNestedRepositories: false, maxArchiveBytes: 1_024_000_000 },
      );
    }
  });

  it('F147 of a workspace hide no finding', () => {
    const { minimumSeverity, showInProblems } = readDisplaySettings();
    assert.deepEqual({ minimumSeverity, showInProblems }, { minimumSeverity: 'none', showInProblems: true });
  });
});
