import * as vscode from 'vscode';
import type { ShownFinding } from '../../core/findings/shownFinding.ts';
import { askInDialog, showInformation } from '../showMessage.ts';

/** Copies the URL of a finding of a live application. */
export async function copyUrl({ finding: { url } }: ShownFinding): Promise<void> {
  if (url !== undefined) await vscode.env.clipboard.writeText(url);
}

/** Shows the URL of a finding whole, and opens it in the browser when the person agrees: whoever wrote the finding chose it. */
export async function openUrl({ finding: { url = '' } }: ShownFinding): Promise<void> {
  const t = vscode.l10n.t;
  const address = URL.parse(url);
  if (address === null) {
    void showInformation(t('The finding has no whole URL: {0}', url));
    return;
  }
  const open = t('Open in Browser');
  const detail = t(
    'The finding chose this URL. Opening it sends the request from your browser, and may repeat the attack.',
  );
  const question = t('Open this URL? {0}', address.href);
  if ((await askInDialog({ question, detail }, open)) !== open) return;
  // As text: `openExternal` takes a `Uri` alone, which encodes `=` and `&` of a query (microsoft/vscode#85930).
  await vscode.commands.executeCommand('vscode.open', address.href);
}
