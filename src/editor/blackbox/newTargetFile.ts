import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { systemCode } from '../../core/errors.ts';
import { readTargetFile } from '../../core/workflows/targetFile.ts';
import { targetFileSuffix } from '../../core/workflows/workflow.ts';
import { openDocument, pickFolder } from '../folders.ts';
import { describeProblem } from './targetDiagnostics.ts';

const t = vscode.l10n.t;

export async function newTargetFile(): Promise<void> {
  const folder = await pickFolder(t('New Blackbox Target File'));
  if (folder === undefined) return;
  const url = await vscode.window.showInputBox({
    title: t('New Blackbox Target File'),
    prompt: t(
      'URL of the application to crawl or assess, such as a staging deployment. The ownership of the URL must be verified for your organization.',
    ),
    placeHolder: 'https://staging.example.com/',
    ignoreFocusOut: true,
    validateInput: (text) => problemOf(text.trim()),
  });
  if (url === undefined) return;
  const file = await writeNew(folder.uri.fsPath, url.trim());
  await vscode.window.showTextDocument(await openDocument(vscode.Uri.file(file)));
}

function problemOf(url: string): string | undefined {
  const read = readTargetFile(textFor(url));
  const [problem] = 'problems' in read ? read.problems : [];
  return problem && describeProblem(problem);
}

/** The file has credit limits, because a run without them can spend any number of credits. */
function textFor(url: string): string {
  const file = {
    target_urls: [url],
    crawl: { credit_limit: 20 },
    assessment: { scan_credit_limit: 50, crawl_credit_limit: 20 },
  };
  return `${JSON.stringify(file, undefined, 2)}\n`;
}

async function writeNew(folder: string, url: string): Promise<string> {
  const host = new URL(url).hostname.replace(/[^a-z0-9.-]/gi, '');
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? host : `${host}-${String(number)}`;
    const file = join(folder, name + targetFileSuffix);
    try {
      await writeFile(file, textFor(url), { flag: 'wx' });
      return file;
    } catch (error) {
      if (systemCode(error) !== 'EEXIST') throw error;
    }
  }
}
