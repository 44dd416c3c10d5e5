# Type each line and Tab into an interactive zsh, and print what the line became.
zmodload zsh/zpty
zpty zsh zsh -f -i
zpty -w zsh 'autoload -U compinit; compinit -u -D; eval "$(staffbench completion zsh)"'
zpty -w zsh 'show() { print -r -- "<<$BUFFER>>"; zle kill-buffer }; zle -N show; bindkey "^X" show; print re"ady"'
zpty -r zsh out '*ready*'
for line; do
  zpty -w -n zsh "$line"$'\t\C-x'
  zpty -r zsh out '*<<*>>*'
  print -r -- "${${out##*<<}%%>>*}"
done
zpty -d zsh
