/** What everybody may know of a token: the part that says whose it is. */
const publicPart = new RegExp(
  [
    'https://hooks\\.slack\\.com/',
    '[a-z][a-z0-9+.-]{1,20}(?::[a-z0-9+.-]{1,20})?://',
    '-----BEGIN [A-Z0-9 ]{0,40}-----',
    'AGE-SECRET-KEY-1|AccountKey=',
    'github_pat_|gh[pousr]_|glpat-|glc_|glsa_|npm_|pypi-',
    'sk-ant-api\\d\\d-|sk-(?:proj|svcacct|admin)-|sk-|gsk_|hf_',
    'AKIA|ASIA|AIza|GOCSPX-',
    'xox[a-z]-|xapp-|SG\\.|shp(?:pa|ca|at|ss)_|[sr]k_(?:live|test)_',
    'lin_api_|ntn_|ops_|hv[sbr]\\.|vc[piark]_|dapi|dckr_pat_|figd_|cf(?:k|ut|at)_|tskey-',
  ].join('|'),
  'i',
);

/** From this length on, two characters of a token tell its owner which one it is, and nobody else anything. */
const tellingLength = 20;

/** A token as it may be shown: its public part, and of what follows never more than two characters (`ghp_…a1`, `postgres://…`). */
export function maskToken(token: string): string {
  const match = publicPart.exec(token);
  const shown = match?.index === 0 ? match[0] : '';
  const rest = token.slice(shown.length);
  const whole = shown.endsWith('/') || shown.startsWith('-');
  if (whole || rest.length < tellingLength) return `${shown}…`;
  // The last bytes of Base64 are often padding, and those of a chunk half a character.
  const tail = rest.slice(-2);
  return /^[A-Za-z0-9]{2}$/.test(tail) ? `${shown}…${tail}` : `${shown}…`;
}

/** An assignment as it may be shown: the last part of the name, since what stands before a dot may be another secret. */
export function maskAssignment(name: string): string {
  return `${name.slice(name.lastIndexOf('.') + 1)}=…`;
}
