import { basename } from 'node:path';
import * as vscode from 'vscode';
import { clip, visibleLine } from '../../core/visibleText.ts';
import type { TargetProblem } from '../../core/workflows/targetFile.ts';
import { formatBytes, formatNumber } from '../formats.ts';
import { showWarning } from '../showMessage.ts';
import { readDocument, targetFileSelector } from './targetFiles.ts';

const t = vscode.l10n.t;

const shownWhileTyping: ReadonlySet<TargetProblem['kind']> = new Set(['password', 'unchecked', 'tooLarge']);

/**
 * A `password` problem is shown while the user types. So are `unchecked` and `tooLarge`, because
 * text that wasn't checked may contain a password. Other problems are shown from `refuse` until the
 * text changes.
 */
export class TargetDiagnostics {
  readonly #diagnostics = vscode.languages.createDiagnosticCollection('whitebox.blackbox');
  readonly #refused = new WeakSet<vscode.TextDocument>();
  readonly #subscriptions: vscode.Disposable;

  constructor() {
    const { workspace } = vscode;
    for (const document of workspace.textDocuments) this.#update(document);
    this.#subscriptions = vscode.Disposable.from(
      this.#diagnostics,
      workspace.onDidOpenTextDocument((document) => this.#update(document)),
      workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (contentChanges.length === 0) return;
        this.#refused.delete(document);
        this.#update(document);
      }),
      workspace.onDidCloseTextDocument(({ uri }) => this.#diagnostics.delete(uri)),
      vscode.languages.registerCodeActionsProvider(
        targetFileSelector,
        { provideCodeActions: (document, range, { diagnostics }) => fixesAt(document, range, diagnostics) },
        { providedCodeActionKinds: [vscode.CodeActionKind.QuickFix] },
      ),
    );
  }

  dispose(): void {
    this.#subscriptions.dispose();
  }

  refuse(document: vscode.TextDocument, problems: readonly TargetProblem[]): void {
    this.#refused.add(document);
    this.#update(document);
    const [first] = problems;
    if (first === undefined) return;
    const { line } = document.positionAt(first.offset);
    const name = visibleLine(basename(document.uri.fsPath));
    const text = t(
      '{0}, line {1}: {2} Nothing has been sent.',
      name,
      formatNumber(line + 1),
      describeProblem(first),
    );
    const selection = rangeOf(document, first);
    const command = { command: 'vscode.open', arguments: [document.uri, { selection }] };
    void showWarning(text, { title: t('Show in File'), ...command });
  }

  #update(document: vscode.TextDocument): void {
    if (vscode.languages.match(targetFileSelector, document) === 0) return;
    const isRefused = this.#refused.has(document);
    const shown = problemsOf(document).filter(({ kind }) => isRefused || shownWhileTyping.has(kind));
    this.#diagnostics.set(
      document.uri,
      shown.map((problem) => {
        const diagnostic = new vscode.Diagnostic(rangeOf(document, problem), describeProblem(problem));
        diagnostic.source = 'Whitebox';
        return diagnostic;
      }),
    );
  }
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
  const isPasswordInRange = ({ kind, offset }: TargetProblem): boolean => {
    const { line } = document.positionAt(offset);
    return kind === 'password' && line >= start.line && line <= end.line;
  };
  if (!problemsOf(document).some(isPasswordInRange)) return [];
  const title = t('Move Passwords to Secret Storage');
  const fix = new vscode.CodeAction(title, vscode.CodeActionKind.QuickFix);
  fix.command = { title, command: 'whitebox.moveBlackboxPasswords', arguments: [document.uri] };
  fix.diagnostics = diagnostics.filter(({ source }) => source === 'Whitebox');
  fix.isPreferred = true;
  return [fix];
}

function rangeOf(document: vscode.TextDocument, { offset, length }: TargetProblem): vscode.Range {
  return new vscode.Range(document.positionAt(offset), document.positionAt(offset + length));
}

export function describeProblem({ kind, subject = '', bound = 0, counted }: TargetProblem): string {
  const name = clip(visibleLine(subject), 80);
  const limit = formatNumber(bound);
  const types = new Map([
    ['string', t('This value must be text in quotes.')],
    ['array', t('This value must be a list in square brackets.')],
    ['object', t('This value must be an object in braces.')],
  ]);
  const atMost = {
    credits: t('This value can be at most {0}.', limit),
    items: t('At most {0} entries are allowed here.', limit),
    characters: t('At most {0} characters are allowed here.', limit),
  };
  const sentences: Record<TargetProblem['kind'], string> = {
    tooLarge: t('A target file can’t be larger than {0}.', formatBytes(bound)),
    unchecked: t('The rest of this file wasn’t checked. Fix any earlier problems, or shorten the file.'),
    notJson: t('A target file must be plain JSON, without comments or trailing commas.'),
    missing: t('“{0}” is missing.', name),
    unknown: t('“{0}” isn’t allowed here.', name),
    repeated: t('“{0}” appears twice here.', name),
    password: t(
      'Passwords don’t belong in this file. The quick fix moves this one to VS Code’s secret storage.',
    ),
    type: types.get(subject) ?? t('This value must be a whole number.'),
    value: t('This value must be one of: {0}.', name),
    url: t(
      'This value must be a full URL that begins with http:// or https://, without a user name or password. Percent-encode spaces and other special characters. Write host names with non-ASCII letters in Punycode (xn--…).',
    ),
    sameLogin: t('This login appears twice. Each combination of ID and role must be unique.'),
    atLeast:
      counted === 'credits' ? t('This value must be at least {0}.', limit) : t('This value can’t be empty.'),
    atMost: atMost[counted ?? 'characters'],
  };
  return sentences[kind];
}
