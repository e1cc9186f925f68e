import * as vscode from 'vscode';
import type { HostSecrets } from '../../core/api/boundedSecrets.ts';
import { AssessmentError } from '../../core/errors.ts';
import type { PasswordStore } from '../../core/workflows/passwordStore.ts';
import type { TargetFile } from '../../core/workflows/targetFile.ts';
import { currentDestination } from '../account/accounts.ts';
import { formatNumber } from '../formats.ts';
import { loginsOfFile } from './passwords.ts';
import { isUsableTargetFile, readDocument, requestsOf, targetFileSelector } from './targetFiles.ts';

const t = vscode.l10n.t;

export function showTargetLenses(passwords: PasswordStore, secrets: HostSecrets): vscode.Disposable {
  const changes = new vscode.EventEmitter<void>();
  return vscode.Disposable.from(
    changes,
    secrets.onDidChange(() => changes.fire()),
    vscode.workspace.onDidGrantWorkspaceTrust(() => changes.fire()),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration('whitebox')) changes.fire();
    }),
    vscode.languages.registerCodeLensProvider(targetFileSelector, {
      onDidChangeCodeLenses: changes.event,
      provideCodeLenses: lensesOf,
      resolveCodeLens: async (lens) => {
        if (lens instanceof PasswordsLens) lens.command = await passwordsCommand(lens, passwords);
        return lens;
      },
    }),
  );
}

const firstLine = new vscode.Range(0, 0, 0, 0);

/** Gets its command later, so that the start buttons don't wait for the secret storage. */
class PasswordsLens extends vscode.CodeLens {
  readonly file: TargetFile;
  readonly uri: vscode.Uri;

  constructor(file: TargetFile, uri: vscode.Uri) {
    super(firstLine);
    this.file = file;
    this.uri = uri;
  }
}

function lensesOf(document: vscode.TextDocument): vscode.CodeLens[] {
  if (!isUsableTargetFile(document.uri)) return [];
  const read = readDocument(document);
  const file = 'file' in read ? read.file : undefined;
  const lens = (title: string, command: string): vscode.CodeLens =>
    new vscode.CodeLens(firstLine, { title, command, arguments: [document.uri] });
  return [
    lens(`▶ ${titleWithLimit(t('Start Crawl'), file && limitOfCrawl(file))}`, 'whitebox.startCrawl'),
    lens(
      `▶ ${titleWithLimit(t('Start Assessment'), file && limitOfAssessment(file))}`,
      'whitebox.startBlackboxAssessment',
    ),
    ...(file?.authentication?.credentials === undefined ? [] : [new PasswordsLens(file, document.uri)]),
  ];
}

function titleWithLimit(start: string, limit: string | undefined): string {
  return limit === undefined ? start : t('{0} ({1})', start, limit);
}

function limitOfCrawl({ crawl }: TargetFile): string {
  return crawl?.credit_limit === undefined
    ? t('no credit limit')
    : t('at most {0} credits', formatNumber(crawl.credit_limit));
}

/** Spending is limited only if both the crawl and the tests have a limit. */
function limitOfAssessment({ assessment }: TargetFile): string {
  const { crawl_credit_limit: crawl, scan_credit_limit: scan } = assessment ?? {};
  return crawl === undefined || scan === undefined
    ? t('no credit limit')
    : t('at most {0} + {1} credits', formatNumber(crawl), formatNumber(scan));
}

async function passwordsCommand(
  { file, uri }: PasswordsLens,
  passwords: PasswordStore,
): Promise<vscode.Command> {
  const destination = currentDestination() ?? { baseUrl: 'https://unset.invalid', organizationId: '' };
  const command = { command: 'whitebox.blackboxPasswords', arguments: [uri] };
  try {
    const logins = await loginsOfFile(requestsOf(file, uri.fsPath, destination), passwords);
    const saved = logins.filter(({ isKept }) => isKept).length;
    const title = t('Passwords saved: {0} of {1}', formatNumber(saved), formatNumber(logins.length));
    return { ...command, title };
  } catch (error) {
    if (!(error instanceof AssessmentError)) throw error;
    return { ...command, title: t('Passwords: not available yet') };
  }
}
