import * as vscode from 'vscode';
import type { ShownFinding } from '../../../core/findings/shownFinding.ts';

const authority = 'whitebox.whitebox-assessment';
const path = '/finding';

/** An address that shows a finding's details: for links where VS Code follows no command, such as that of a problem. */
export function toAddress({ run, finding }: ShownFinding): vscode.Uri {
  const query = new URLSearchParams({ run: run.id, index: String(finding.index) }).toString();
  return vscode.Uri.from({ scheme: vscode.env.uriScheme, authority, path, query });
}

/** Follows such addresses. Anybody can write one: it can name a finding that is shown here, and nothing else comes of it. */
export function followAddresses(): vscode.Disposable {
  return vscode.window.registerUriHandler({
    handleUri: async (uri) => {
      const query = new URLSearchParams(uri.query);
      const runId = query.get('run');
      if (uri.path !== path || runId === null) return;
      await vscode.commands.executeCommand('whitebox.showFindingDetails', {
        kind: 'finding',
        runId,
        index: Number(query.get('index')),
      });
    },
  });
}
