/** Something that is not white space to any rule: byte 0xA0 is a part of a letter in UTF-8. */
const nonSpace = '[^ \\t\\r\\n/';

/**
 * One expression that finds, in text or in its bytes read as Latin-1, at least every place where a rule of secretlint's recommended
 * preset could find something; each alternative is that rule's pattern, loosened. Repetitions are bounded, so that time is linear.
 */
const hints = new RegExp(
  [
    // aws
    '(?:SECRET|secret|Secret)_?(?:ACCESS|access|Access)_?(?:KEY|key|Key)["\']?[\\s\\x80-\\xff]{0,64}[:=]',
    // gcp, privatekey
    'PRIVATE KEY',
    // npm
    'npm_[A-Za-z0-9_]{36}|_authToken=|:x-oauth-basic@',
    // basicauth, database-connection-string (user and password in UTF-8 are longer than in characters)
    `://${nonSpace}:]{1,400}:${nonSpace}@]{1,800}@`,
    // slack
    '(?:xox[bpaor]|xapp)-|[sS][lL][aA][cC][kK]\\.[cC][oO][mM]/[sS][eE][rR][vV]',
    // sendgrid, shopify, stripe
    'SG\\.\\w{1,128}\\.\\w|shp(?:pa|ca|at|ss)_[a-zA-Z0-9]{32}|[sr]k_(?:live|test)_[a-zA-Z0-9]{24}',
    // github, gitlab, grafana
    'gh[pousr]_(?:[A-Za-z0-9_]{36}|[0-9]{1,20}_)|github_pat_|glpat-|glc_[A-Za-z0-9+/]{32}|glsa_',
    // openai, anthropic, groq, huggingface
    'sk-(?:proj|svcacct|admin|ant)-|T3BlbkFJ|gsk_[A-Za-z0-9]{52}|hf_[a-zA-Z]{34}',
    // linear, notion, 1password
    'lin_api_|ntn_[0-9]{11}|ops_ey',
    // hashicorp-vault, vercel, databricks
    'hv[sbr]\\.[A-Za-z0-9_-]{90}|vc[piark]_[A-Za-z0-9]{20}|dapi[A-Fa-f0-9]{32}',
    // docker, figma, cloudflare, tailscale
    'dckr_pat_|figd_|cf(?:k|ut|at)_[A-Za-z0-9]{40}|tskey-',
  ].join('|'),
);

/** False when no rule of secretlint's recommended preset can find anything in the text, or in the bytes read as Latin-1. */
export function mayHoldToken(text: string): boolean {
  return hints.test(text);
}
