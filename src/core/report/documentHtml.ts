interface DocumentFrame {
  readonly scriptUri: string;
  readonly styleUri: string;
  readonly cspSource: string;
  readonly nonce: string;
  readonly language: string;
}

/** Only our script and stylesheet are allowed, and only DOMPurify may turn text into markup. */
function documentPolicy({ cspSource, nonce }: DocumentFrame): string {
  return [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src ${cspSource}`,
    "font-src 'none'",
    "img-src 'none'",
    "connect-src 'none'",
    "frame-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types dompurify',
  ].join('; ');
}

export function documentHtml(frame: DocumentFrame): string {
  return `<!DOCTYPE html>
<html lang="${escapeHtml(frame.language)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escapeHtml(documentPolicy(frame))}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Whitebox</title>
<link rel="stylesheet" href="${escapeHtml(frame.styleUri)}">
</head>
<body>
<script nonce="${escapeHtml(frame.nonce)}" src="${escapeHtml(frame.scriptUri)}"></script>
</body>
</html>
`;
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
