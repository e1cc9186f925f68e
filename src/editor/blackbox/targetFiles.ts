import { realpathSync, statSync } from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import * as vscode from 'vscode';
import { AssessmentError, systemCode } from '../../core/errors.ts';
import { checkSecrets } from '../../core/upload/secrets/checkSecrets.ts';
import { clip, visibleLine } from '../../core/visibleText.ts';
import {
  readTargetFile,
  takePasswords,
  type TargetFile,
  type TargetProblem,
  toInput,
} from '../../core/workflows/targetFile.ts';
import { pickFolder } from '../folders.ts';
import { formatBytes, formatNumber } from '../formats.ts';
import { type Destination, readDestination, readSecretCheck } from '../settings.ts';
import { askInDialog, showWarning } from '../showMessage.ts';
import { describeSuspicions } from '../upload/preparation.ts';
import type { PasswordRequest, Passwords } from './passwords.ts';

/** Target files, as VS Code selects documents. */
export const targetFileSelector: vscode.DocumentFilter = { scheme: 'file', pattern: '**/*.blackbox.json' };

/** True for a target file that runs can be started from: on disk, in a folder of a trusted workspace. */
export function isUsableTargetFile(uri: vscode.Uri): boolean {
  const isOnDisk = uri.scheme === 'file' && uri.path.endsWith('.blackbox.json');
  return isOnDisk && vscode.workspace.isTrusted && vscode.workspace.getWorkspaceFolder(uri) !== undefined;
}

/** The requests that a target file makes, without passwords: of a crawl and of an assessment. */
export function requestsOf(
  file: TargetFile,
  targetFile: string,
  destination: Destination,
): readonly PasswordRequest[] {
  const workflows = ['blackbox-crawl', 'blackbox-assessment'] as const;
  return workflows.map((workflow) => ({
    ...destination,
    workflow,
    targetFile,
    input: toInput(file, workflow),
  }));
}

/** A password, and what may hide one: shown while it is there. */
const shownAtOnce: ReadonlySet<TargetProblem['kind']> = new Set(['password', 'unchecked', 'tooLarge']);

/** Shows what is wrong with target files at its lines: a password and what may hide one at once, all else after a start was refused and until the text changes. */
export class TargetFiles {
  readonly #passwords: Passwords;
  readonly #shown = vscode.languages.createDiagnosticCollection('whitebox.blackbox');
  /** Documents whose problems are all shown. */
  readonly #refused = new WeakSet<vscode.TextDocument>();
  readonly #subscriptions: vscode.Disposable;

  constructor(passwords: Passwords) {
    this.#passwords = passwords;
    const { workspace } = vscode;
    for (const document of workspace.textDocuments) this.#update(document);
    this.#subscriptions = vscode.Disposable.from(
      this.#shown,
      workspace.onDidOpenTextDocument((document) => this.#update(document)),
      workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (contentChanges.length === 0) return;
        this.#refused.delete(document);
        this.#update(document);
      }),
      workspace.onDidCloseTextDocument(({ uri }) => this.#shown.delete(uri)),
      vscode.languages.registerCodeActionsProvider(
        targetFileSelector,
        { provideCodeActions: (document, range, { diagnostics }) => fixesAt(document, range, diagnostics) },
        { providedCodeActionKinds: [vscode.CodeActionKind.QuickFix] },
      ),
    );
  }

  /** Reads a target file for a start or for its passwords, saved before; undefined, with its problems shown, for one that is not right. */
  async read(uri: vscode.Uri): Promise<TargetFile | undefined> {
    // VS Code's own error for a file that is gone does not name it.
    await stat(uri.fsPath);
    const document = await vscode.workspace.openTextDocument(uri);
    if (document.isDirty && !(await document.save())) return undefined;
    // From the disk: VS Code may not have noticed yet that another program has changed it, as a pull does.
    const text = await readFile(uri.fsPath, 'utf8');
    const read = readTargetFile(text);
    if ('file' in read) return read.file;
    this.#refuse(document, read.problems);
    return undefined;
  }

  /** Moves the passwords in a target file to the secret storage, and saves the file without them. */
  async movePasswords(uri: vscode.Uri): Promise<void> {
    const t = vscode.l10n.t;
    const destination = readDestination();
    if (destination === undefined) throw new AssessmentError('notSignedIn');
    const document = await vscode.workspace.openTextDocument(uri);
    const { text, passwords } = takePasswords(document.getText());
    const read = readTargetFile(text);
    if (!('file' in read)) {
      // A password is kept for a request, and there is none as long as something else is wrong.
      this.#refuse(document, read.problems);
      return;
    }
    for (const [index, login] of (read.file.authentication?.credentials ?? []).entries()) {
      const password = passwords.get(index);
      if (password === undefined) continue;
      for (const request of requestsOf(read.file, uri.fsPath, destination))
        await this.#passwords.keep(request, login, password);
    }
    const edit = new vscode.WorkspaceEdit();
    edit.replace(uri, new vscode.Range(0, 0, document.lineCount, 0), text);
    if (!(await vscode.workspace.applyEdit(edit)) || !(await document.save())) {
      void showWarning(
        t(
          'The passwords are in the secret storage now, but {0} was not saved: they still stand in the file on disk. Save it, and if it was synced or committed with them, change them in the application.',
          visibleLine(uri.fsPath),
        ),
      );
      return;
    }
    void showWarning(
      t(
        'The passwords are in the secret storage now, and no longer in the file. If the file was saved, synced or committed with them, change them in the application.',
      ),
    );
  }

  dispose(): void {
    this.#subscriptions.dispose();
  }

  #refuse(document: vscode.TextDocument, problems: readonly TargetProblem[]): void {
    this.#refused.add(document);
    this.#update(document);
    const [first] = problems;
    if (first === undefined) return;
    const t = vscode.l10n.t;
    const { line } = document.positionAt(first.offset);
    const name = visibleLine(basename(document.uri.fsPath));
    const show = t('Show in File');
    void showWarning(
      t('{0}, line {1}: {2} Nothing has been sent.', name, formatNumber(line + 1), describeProblem(first)),
      show,
    ).then((pressed) => {
      const selection = rangeOf(document, first);
      if (pressed === show) void vscode.window.showTextDocument(document, { selection });
    });
  }

  #update(document: vscode.TextDocument): void {
    if (vscode.languages.match(targetFileSelector, document) === 0) return;
    const isRefused = this.#refused.has(document);
    const shown = problemsOf(document).filter(({ kind }) => isRefused || shownAtOnce.has(kind));
    this.#shown.set(
      document.uri,
      shown.map((problem) => {
        const diagnostic = new vscode.Diagnostic(rangeOf(document, problem), describeProblem(problem));
        diagnostic.source = 'Whitebox';
        return diagnostic;
      }),
    );
  }
}

/** What was read of documents, each at its version: problems, lenses and fixes ask for the same text. */
const readings = new WeakMap<
  vscode.TextDocument,
  { readonly version: number; readonly read: ReturnType<typeof readTargetFile> }
>();

/** Reads the text of a document as a target file, once for each of its versions. */
export function readDocument(document: vscode.TextDocument): ReturnType<typeof readTargetFile> {
  const { version } = document;
  const known = readings.get(document);
  if (known?.version === version) return known.read;
  const read = readTargetFile(document.getText());
  readings.set(document, { version, read });
  return read;
}

function problemsOf(document: vscode.TextDocument): readonly TargetProblem[] {
  const read = readDocument(document);
  return 'problems' in read ? read.problems : [];
}

function fixesAt(
  document: vscode.TextDocument,
  { start, end }: vscode.Range,
  diagnostics: readonly vscode.Diagnostic[],
): vscode.CodeAction[] {
  const isHere = ({ kind, offset }: TargetProblem): boolean => {
    const { line } = document.positionAt(offset);
    return kind === 'password' && line >= start.line && line <= end.line;
  };
  if (!problemsOf(document).some(isHere)) return [];
  const title = vscode.l10n.t('Move Passwords to the Secret Storage');
  const fix = new vscode.CodeAction(title, vscode.CodeActionKind.QuickFix);
  fix.command = { title, command: 'whitebox.moveBlackboxPasswords', arguments: [document.uri] };
  fix.diagnostics = diagnostics.filter(({ source }) => source === 'Whitebox');
  fix.isPreferred = true;
  return [fix];
}

function rangeOf(document: vscode.TextDocument, { offset, length }: TargetProblem): vscode.Range {
  return new vscode.Range(document.positionAt(offset), document.positionAt(offset + length));
}

/** What is wrong at a place of a target file, and what belongs there. */
function describeProblem({ kind, subject = '', bound = 0, counted }: TargetProblem): string {
  const t = vscode.l10n.t;
  const name = clip(visibleLine(subject), 80);
  const limit = formatNumber(bound);
  const types = new Map([
    ['string', t('This has to be a text in quotes.')],
    ['array', t('This has to be a list in square brackets.')],
    ['object', t('This has to be an object in braces.')],
  ]);
  const atMost = {
    credits: t('This may be at most {0}.', limit),
    items: t('At most {0} entries may stand here.', limit),
    characters: t('At most {0} characters may stand here.', limit),
  };
  const sentences: Record<TargetProblem['kind'], string> = {
    tooLarge: t('A target file can’t be larger than {0}.', formatBytes(bound)),
    unchecked: t('The rest of this file wasn’t checked. Fix the problems above, or shorten the file.'),
    notJson: t('This is not JSON as a target file needs it: no comments, no trailing commas.'),
    missing: t('“{0}” is missing.', name),
    unknown: t('There is no “{0}” here.', name),
    repeated: t('“{0}” stands here twice.', name),
    password: t('A password does not belong in this file: the quick fix moves it to the secret storage.'),
    type: types.get(subject) ?? t('This has to be a whole number.'),
    value: t('This has to be one of: {0}.', name),
    url: t(
      'This has to be a whole URL that begins with http:// or https://, without user name and password. Percent-encode spaces and other special characters, and write a host with letters beyond ASCII in Punycode (xn--…).',
    ),
    sameLogin: t('One login stands here twice: each ID and role may stand once.'),
    atLeast: counted === 'credits' ? t('This has to be at least {0}.', limit) : t('This must not be empty.'),
    atMost: atMost[counted ?? 'characters'],
  };
  return sentences[kind];
}

/** Asks for the first URL of an application, writes a target file with limits for it into a workspace folder, and opens that. */
export async function newTargetFile(): Promise<void> {
  const t = vscode.l10n.t;
  const folder = await pickFolder(t('New Blackbox Target File'));
  if (folder === undefined) return;
  const url = await vscode.window.showInputBox({
    title: t('New Blackbox Target File'),
    prompt: t(
      'URL of the application to crawl or assess, such as a staging deployment. The service checks that you own it.',
    ),
    placeHolder: 'https://staging.example.com/',
    ignoreFocusOut: true,
    validateInput: (text) => complaintAbout(text.trim()),
  });
  if (url === undefined) return;
  const file = await writeNew(folder.uri.fsPath, url.trim());
  await vscode.window.showTextDocument(vscode.Uri.file(file));
}

function complaintAbout(url: string): string | undefined {
  const read = readTargetFile(textFor(url));
  const [problem] = 'problems' in read ? read.problems : [];
  return problem && describeProblem(problem);
}

/** Without limits, spending has no end. */
function textFor(url: string): string {
  const file = {
    target_urls: [url],
    crawl: { credit_limit: 20 },
    assessment: { scan_credit_limit: 50, crawl_credit_limit: 20 },
  };
  return `${JSON.stringify(file, undefined, 2)}\n`;
}

/** Writes beside what is there: a file is never overwritten. */
async function writeNew(folder: string, url: string): Promise<string> {
  const host = new URL(url).hostname.replace(/[^a-z0-9.-]/gi, '');
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? host : `${host}-${String(number)}`;
    const file = join(folder, `${name}.blackbox.json`);
    try {
      await writeFile(file, textFor(url), { flag: 'wx' });
      return file;
    } catch (error) {
      if (systemCode(error) !== 'EEXIST') throw error;
    }
  }
}

/** Checks the texts of a saved target file for credentials, unless the setting turns that off, and asks about any; false when they are not to be sent. */
export async function acceptTexts(uri: vscode.Uri, workerFile: string): Promise<boolean> {
  if (readSecretCheck() === 'off') return true;
  const t = vscode.l10n.t;
  const path = realpathSync(uri.fsPath);
  const [root, name] = [dirname(path), basename(path)];
  const files = [{ path: name, bytes: statSync(path).size, mode: 0o644 as const }];
  const result = (await checkSecrets({ root, files, workerFile })).get(name);
  if (result === undefined || 'reason' in result)
    throw new AssessmentError('sourceUnreadable', { subject: uri.fsPath });
  const suspicions = result.suspicions.filter(({ kind }) => kind === 'content');
  if (suspicions.length === 0) return true;
  const send = t('Send Them All the Same');
  const detail = [
    t('Nothing has been sent. These look like passwords, keys or tokens; what was found is shown masked:'),
    describeSuspicions(suspicions),
  ].join('\n\n');
  return (await askInDialog({ question: t('Suspected secrets in the target file'), detail }, send)) === send;
}
