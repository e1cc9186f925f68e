import * as vscode from 'vscode';

/** The text of a file's content: in the encoding of its open document, else in the one that settings and the content tell. */
export async function decodeFile(content: Uint8Array, file: string): Promise<string> {
  const uri = vscode.Uri.file(file);
  const open = vscode.workspace.textDocuments.find((document) => document.uri.toString() === uri.toString());
  return open === undefined
    ? vscode.workspace.decode(content, { uri })
    : vscode.workspace.decode(content, { encoding: open.encoding });
}
